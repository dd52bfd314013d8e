// The site works without this script. It adds the search, the menu of narrow windows, and buttons that copy code.
"use strict";

const root = new URL(".", document.currentScript.src);

// The menu.
{
  const button = document.querySelector(".menu");
  const navigation = document.getElementById(button.getAttribute("aria-controls"));
  const open = (yes) => {
    navigation.classList.toggle("closed", !yes);
    button.setAttribute("aria-expanded", String(yes));
  };
  button.hidden = false;
  open(false);
  button.addEventListener("click", () => open(navigation.classList.contains("closed")));
  navigation.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      open(false);
      button.focus();
    }
  });
  // The page's own entry, without moving the page.
  const here = navigation.querySelector("[aria-current]");
  if (here) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 2;
}

// A button for each piece of code.
for (const pre of document.querySelectorAll("main pre")) {
  const frame = document.createElement("div");
  frame.className = "code";
  pre.replaceWith(frame);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent.trimEnd() + "\n");
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  frame.append(pre, button);
}

// The search. Each word must occur; a word in a heading counts more than one in a text.
{
  const most = 20;
  const form = document.querySelector(".search");
  const input = form.querySelector("input");
  const found = document.getElementById("found");
  const status = found.querySelector("p");
  const list = found.querySelector("ul");
  let records;

  const load = () => {
    records ??= fetch(new URL("search.json", root)).then((answer) => {
      if (!answer.ok) throw new Error(answer.statusText);
      return answer.json();
    }).then((all) => all.map((r) => ({ ...r, title: r.p.toLowerCase(), heading: r.h.toLowerCase(), text: r.x.toLowerCase() })));
    return records;
  };

  const score = (record, words) => {
    let sum = 0;
    for (const word of words) {
      let points = 0;
      if (record.heading === word) points += 100;
      if (record.heading.split(/[\s.]+/).includes(word)) points += 40;
      if (record.heading.includes(word)) points += 20;
      if (record.title.includes(word)) points += record.h === "" ? 20 : 4;
      if (record.text.includes(word)) points += 2;
      if (points === 0) return 0;
      sum += points;
    }
    return sum + (record.heading.includes(words.join(" ")) ? 50 : 0);
  };

  // The text around the first word, with all words marked.
  const excerpt = (record, words) => {
    const at = words.map((word) => record.text.indexOf(word)).filter((i) => i >= 0);
    const start = at.length > 0 ? Math.max(0, Math.min(...at) - 60) : 0;
    return (start > 0 ? "… " : "") + record.x.slice(start, start + 160) + (record.x.length > start + 160 ? " …" : "");
  };
  const marked = (element, text, words) => {
    const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    text.split(new RegExp(`(${pattern})`, "i")).forEach((part, i) => {
      if (i % 2 === 0) {
        element.append(part);
        return;
      }
      const mark = document.createElement("mark");
      mark.textContent = part;
      element.append(mark);
    });
    return element;
  };

  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return;
    let all;
    try {
      all = await load();
    } catch (error) {
      records = undefined;
      list.replaceChildren();
      status.textContent = `The search needs the file search.json, which was not read: ${error.message}`;
      return;
    }
    const hits = all.map((record) => ({ record, points: score(record, words) })).filter((hit) => hit.points > 0);
    hits.sort((a, b) => b.points - a.points || a.record.x.length - b.record.x.length);
    status.textContent = hits.length > most ? `${hits.length} results; the first ${most}:` : hits.length === 1 ? "1 result" : `${hits.length} results`;
    list.replaceChildren(...hits.slice(0, most).map(({ record }) => {
      const link = document.createElement("a");
      link.href = new URL(record.u.replace(/^\//, ""), root);
      link.append(marked(document.createElement("strong"), record.h || record.p, words));
      if (record.h) link.append(` · ${record.p}`);
      link.append(marked(document.createElement("small"), excerpt(record, words), words));
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
  };

  const close = () => { found.hidden = true; };
  form.hidden = false;
  input.addEventListener("focus", () => load().catch(() => { records = undefined; }));
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  list.addEventListener("click", close); // the result may be on this page
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  form.addEventListener("focusout", (event) => { if (event.relatedTarget && !form.contains(event.relatedTarget)) close(); });
  form.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      close();
      input.focus();
      close(); // the focus has opened it again
    } else if (event.key === "ArrowDown" && !found.hidden) {
      event.preventDefault();
      links[Math.min(at + 1, links.length - 1)]?.focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      (at === 0 ? input : links[at - 1]).focus();
    } else if (event.key === "Enter" && at < 0 && links.length > 0) {
      event.preventDefault();
      links[0].click();
    }
  });
}
