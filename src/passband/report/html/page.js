"use strict";
// Opens the transcripts of a problem. Text enters the page as textContent, never as markup.
(() => {
  const block = document.getElementById("data");
  if (!block) return;
  const runs = JSON.parse(block.textContent).runs;
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) { node.textContent = text; node.dir = "auto"; }
    return node;
  };
  const labelled = (panel, label, text) =>
    panel.append(make("div", "label", label), make("pre", "", text));
  const kinds = ["wrong", "right", "odd"];
  // A trial is [kind, label, about, before, answer, after, further texts]; a chip has no text.
  const chip = ([kind, label, about, before, answer, after, further], number) => {
    const name = `trial-${kinds[kind]}`;
    const word = kind < 2 ? `: ${kinds[kind]}` : ":";
    const note = `trial ${number}${word}${about ? " " + about : ""}`;
    if (before === undefined) {
      const node = make("span", name, label);
      node.title = note;
      return node;
    }
    const node = make("details", name);
    node.append(make("summary", "", label), make("div", "about", note));
    for (const [role, text] of further || []) labelled(node, role, text);
    const text = make("pre", "", before);
    text.append(make("mark", "", answer), after);
    node.append(text);
    return node;
  };
  const open = (run, place, moves) => {
    const problem = runs[run].problems[place];
    const panel = document.getElementById(`panel-${run}`);
    if (!problem || !panel) return;
    const head = make("h3");
    const close = make("button", "panel-close solved", "close");
    close.type = "button";
    close.onclick = () => { panel.hidden = true; };
    head.append(make("span", "", problem.key), close);
    panel.replaceChildren(head);
    if (!problem.sides) panel.append(make("div", "solved", problem.solved));
    for (const [role, text] of problem.asked) labelled(panel, role, text);
    for (const target of problem.targets) labelled(panel, "right answer", target);
    // A problem of a comparison has the trials of each model under its name.
    for (const side of problem.sides || [problem]) {
      if (side.name) labelled(panel, side.name, side.solved);
      const trials = make("div", "trials");
      side.trials.forEach((one, number) => { if (one) trials.append(chip(one, number)); });
      panel.append(trials);
      if (side.more) panel.append(make("p", "caption", side.more));
    }
    panel.hidden = false;
    if (moves) panel.scrollIntoView({ block: "nearest" });
  };
  // The table of problems for those who do not point at columns; made when it is opened.
  for (const list of document.querySelectorAll("details[data-problems]")) {
    const run = +list.dataset.problems;
    list.hidden = false;
    list.addEventListener("toggle", () => {
      const body = list.querySelector("tbody");
      if (!body || body.firstChild) return;
      runs[run].problems.forEach((problem, place) => {
        const row = make("tr");
        const button = make("button", "link", problem.key);
        button.type = "button";
        button.dataset.run = run;
        button.dataset.problem = place;
        const cell = make("td");
        cell.append(button);
        row.append(cell, make("td", "number", problem.solved));
        body.append(row);
      });
    });
  }
  const nearest = (places, wanted) =>
    places.reduce((best, one, i) => Math.abs(one - wanted) < Math.abs(places[best] - wanted) ? i : best, 0);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-problem]");
    if (link) {
      event.preventDefault();
      open(+link.dataset.run, +link.dataset.problem, true);
      return;
    }
    const strip = event.target.closest(".problems");
    if (!strip) return;
    const run = +strip.dataset.run;
    const box = strip.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * +strip.dataset.columns);
    const columns = runs[run].problems.map((one) => one.column);
    if (columns.length) open(run, nearest(columns, column), true);
  });
})();
