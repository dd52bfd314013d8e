// Checks a built site in Chromium: CHROMIUM=PROGRAM node check.mjs DIRECTORY. It follows every link from the start page, and prints what is wrong.
import { readdirSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";
import { accessible } from "./accessible.mjs";
import { fileOf, serve } from "./server.mjs";
import { inUse } from "./use.mjs";

const directory = resolve(process.argv[2]);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const wide = { width: 1280, height: 900 };
const narrow = { width: 400, height: 800 };

const faults = [];
const fault = (url, text) => {
  faults.push(`${url.pathname ?? url}: ${text}`);
  console.log(faults.at(-1));
};

// watch reports what a tab must not do.
function watch(tab, site) {
  const here = () => new URL(tab.url());
  tab.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) fault(here(), `the console has: ${message.text()}`);
  });
  tab.on("pageerror", (error) => fault(here(), `a script failed: ${error.message}`));
  tab.on("request", (request) => {
    if (!request.url().startsWith(site.href) && !request.url().startsWith("data:")) fault(here(), `it asks for ${request.url()}`);
  });
  tab.on("response", (response) => {
    if (response.status() >= 400) fault(here(), `${response.url()} answers ${response.status()}`);
  });
}

// visit checks a page and returns its links and anchors.
async function visit(tab, url) {
  await tab.setViewport(wide);
  await tab.goto(url.href, { waitUntil: "networkidle0" });
  await accessible(tab, fault);
  await tab.setViewport(narrow);
  const width = await tab.evaluate(() => document.documentElement.scrollWidth);
  if (width > narrow.width) fault(url, `it is ${width} pixels wide in a window of ${narrow.width}`);
  return tab.evaluate(() => {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    return {
      ids, twice: ids.filter((id, i) => ids.indexOf(id) < i),
      inline: [...document.querySelectorAll("*")].flatMap((element) => element.getAttributeNames().filter((name) => name.startsWith("on") || name === "style")),
      images: [...document.images].map((image) => image.src),
      links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
      repository: document.querySelector("footer a")?.href,
      title: document.title,
    };
  });
}

// crawl visits each page once.
async function crawl(tab, site) {
  const pages = new Map();
  const queue = [site.href];
  while (queue.length > 0) {
    const url = new URL(queue.shift());
    if (pages.has(url.href)) continue;
    const page = await visit(tab, url);
    pages.set(url.href, page);
    for (const link of page.links.map((href) => new URL(href))) {
      link.hash = "";
      if (link.href.startsWith(site.href) && fileOf(directory, link.pathname.slice(site.pathname.length - 1))) queue.push(link.href);
    }
  }
  return pages;
}

// compare checks the links and anchors of all pages.
function compare(site, pages) {
  const source = [...pages.values()].map((page) => page.repository).find(Boolean).replace(/README\.md$/, "");
  const titles = new Map();
  for (const [href, page] of pages) {
    const url = new URL(href);
    if (titles.has(page.title)) fault(url, `it has the title of ${titles.get(page.title)}: ${page.title}`);
    titles.set(page.title, url.pathname);
    for (const id of page.twice) fault(url, `two elements have the id ${id}`);
    for (const name of page.inline) fault(url, `an element has the attribute ${name}, which the Content-Security-Policy refuses`);
    for (const image of page.images.map((src) => new URL(src))) {
      if (!fileOf(directory, image.pathname.slice(site.pathname.length - 1))) fault(url, `there is no image ${image.pathname}`);
    }
    for (const link of page.links) {
      const [target, anchor] = link.split("#");
      if (target.startsWith(source)) {
        if (!statSync(resolve(repository, target.slice(source.length)), { throwIfNoEntry: false })) fault(url, `the repository has no ${link}`);
      } else if (target.startsWith(site.href)) {
        const other = pages.get(target);
        if (!other) fault(url, `the link ${link} leads nowhere`);
        else if (anchor && !other.ids.includes(decodeURIComponent(anchor))) fault(url, `there is no anchor for the link ${link}`);
      }
    }
  }
  for (const file of readdirSync(directory, { recursive: true })) {
    if (!/(^|\/)index\.html$/.test(file)) continue;
    const href = new URL(file.replace(/index\.html$/, ""), site).href;
    if (!pages.has(href)) fault(href, "no page has a link to it");
  }
}

// The site is below a path, as it may be at any server.
const { url: site, close } = await serve(directory, "/below/");
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });
try {
  const tab = await browser.newPage();
  watch(tab, site);
  const pages = await crawl(tab, site);
  compare(site, pages);
  await inUse(browser, site, fault, (tab) => watch(tab, site));
  console.log(`${relative(process.cwd(), directory)}: ${pages.size} pages, ${faults.length} faults`);
} finally {
  await browser.close();
  close();
}
process.exitCode = faults.length > 0 ? 1 : 0;
