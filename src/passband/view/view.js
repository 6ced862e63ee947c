"use strict";
// Keys follow links; numbers of a run that goes on move. Nothing else happens here.
(() => {
  // n, p: next and previous wrong trial; j, k: next and previous one.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    for (const link of document.querySelectorAll("a[data-key]")) {
      if (link.dataset.key === event.key) {
        event.preventDefault();
        link.click();
        return;
      }
    }
  });

  // A bar takes the places of another one shape by shape, so that it can glide there.
  const move = (holder, markup) => {
    const fresh = new DOMParser().parseFromString(markup, "image/svg+xml").documentElement;
    const [old, now] = [holder.querySelectorAll("svg *"), fresh.querySelectorAll("*")];
    const same = [...now].map((one) => one.tagName).join() ===
      [...old].map((one) => one.tagName).join();
    if (!same || !old.length) {
      holder.replaceChildren(document.importNode(fresh, true));
      return;
    }
    now.forEach((one, index) => {
      for (const { name, value } of one.attributes) {
        if (name !== "class") old[index].setAttribute(name, value);
      }
      if (!one.children.length) old[index].textContent = one.textContent;
    });
  };

  const show = (changes) => {
    for (const holder of document.querySelectorAll("[data-live]")) {
      const value = changes[holder.dataset.live];
      if (value === undefined) continue;
      if (holder.tagName === "PROGRESS") holder.value = value;
      else if (holder.dataset.live.startsWith("bar ")) move(holder, value);
      else holder.textContent = value;
    }
    // Other metrics than on the page: there are more trials of each problem now.
    const table = document.querySelector("[data-metrics]");
    if (table && changes.metrics !== undefined && changes.metrics !== table.dataset.metrics) {
      setTimeout(() => location.reload(), Math.max(0, 5000 - performance.now()));
    }
    const list = document.querySelector("[data-runs]");
    if (list && changes.runs !== undefined && changes.runs !== list.dataset.runs) {
      document.getElementById("others").hidden = false;
    }
    document.documentElement.dataset.seen = +(document.documentElement.dataset.seen || 0) + 1;
  };

  // Browsers keep six connections to a server: a page that nobody sees gives up its own.
  const place = document.querySelector("[data-events]");
  if (!place) return;
  let source = null;
  const listen = () => {
    if (document.hidden) {
      if (source) source.close();
      source = null;
    } else if (!source) {
      const start = place.dataset.start ? "?start=" + place.dataset.start : "";
      source = new EventSource(place.dataset.events + start);
      source.onmessage = (event) => show(JSON.parse(event.data));
      source.addEventListener("gone", () => source.close());
    }
  };
  document.addEventListener("visibilitychange", listen);
  window.addEventListener("pagehide", () => source && source.close());
  window.addEventListener("pageshow", listen);
  listen();
})();
