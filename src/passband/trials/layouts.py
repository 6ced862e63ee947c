"""The tables of earlier versions, word for word: a whole file of them has exactly these."""

from __future__ import annotations

__all__ = ["VERSION_1", "VERSION_2"]

VERSION_1 = """
CREATE TABLE run(
    run INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE, model TEXT NOT NULL,
    spec TEXT NOT NULL, created TEXT NOT NULL, config TEXT NOT NULL
) STRICT;
CREATE TABLE session( -- a process that asked, and came to an end
    session INTEGER PRIMARY KEY, started TEXT NOT NULL, ended TEXT NOT NULL, seconds REAL NOT NULL,
    trials INT NOT NULL, concurrency INT NOT NULL, version TEXT NOT NULL
) STRICT;
CREATE TABLE problem(
    run INT NOT NULL, problem INT NOT NULL, key TEXT NOT NULL, cluster TEXT, record TEXT NOT NULL,
    PRIMARY KEY(run, problem), UNIQUE(run, key)
) STRICT;
CREATE TABLE trial(
    run INT NOT NULL, problem INT NOT NULL, trial INT NOT NULL CHECK(trial >= 0),
    status INT NOT NULL, prompt_tokens INT, completion_tokens INT, latency_ms INT,
    attempts INT NOT NULL, seed INT, request_id TEXT, body INT,
    PRIMARY KEY(run, problem, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE body(id INTEGER PRIMARY KEY, codec INT NOT NULL, text BLOB, reasoning BLOB) STRICT;
CREATE TABLE attempt(
    run INT NOT NULL, problem INT NOT NULL, trial INT NOT NULL, attempt INT NOT NULL,
    at_ms INT NOT NULL, outcome TEXT NOT NULL, http INT, detail TEXT NOT NULL,
    PRIMARY KEY(run, problem, trial, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE scorer(
    scorer INTEGER PRIMARY KEY, run INT NOT NULL, name TEXT NOT NULL, identity TEXT NOT NULL,
    position INT, -- 0 is the scorer whose score is *the* score; nothing if no longer used
    UNIQUE(run, name, identity)
) STRICT;
CREATE TABLE score(
    scorer INT NOT NULL, problem INT NOT NULL, trial INT NOT NULL,
    value REAL, status INT NOT NULL, answer BLOB, rule TEXT, detail TEXT,
    PRIMARY KEY(scorer, problem, trial)
) STRICT, WITHOUT ROWID;
"""

VERSION_2 = {
    "session": "session INTEGER PRIMARY KEY,started TEXT NOT NULL,ended TEXT NOT NULL,"
    "seconds REAL NOT NULL,trials INT NOT NULL,concurrency INT NOT NULL,version TEXT NOT NULL,"
    "address TEXT,crc INT NOT NULL",
    "trial": "run INT NOT NULL,problem INT NOT NULL,trial INT NOT NULL CHECK(trial>=0),"
    "status INT NOT NULL,prompt_tokens INT,completion_tokens INT,latency_ms INT,"
    "attempts INT NOT NULL,seed INT,request_id TEXT,body INT,cost REAL,reason TEXT,source INT,"
    "crc INT NOT NULL,PRIMARY KEY(run,problem,trial)",
}
"""The tables of version 2 that are not those of version 3."""
