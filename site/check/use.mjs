// Uses the site as a reader does: by keyboard, in a narrow window, and without scripts.
import { accessible } from "./accessible.mjs";

// searches are words, and where the first result leads.
const searches = [
  ["cluster.server", "contracts/native/#cluster.server"],
  ["api_server_name", "contracts/aks/#api_server_config.api_server_name"],
  ["51", "docs/exit-codes/#51"],
  ["image lock", "commands/slipway/#slipway-image-lock"],
  ["tutorial", "docs/tutorial/"],
];

const settled = "() => !document.getElementById('found').hidden && /result/.test(document.querySelector('#found p').textContent)";

async function search(tab, site, fault) {
  for (const [words, want] of searches) {
    await tab.goto(site.href);
    await tab.keyboard.press("/");
    await tab.keyboard.type(words);
    await tab.waitForFunction(settled, { timeout: 10000 });
    await tab.keyboard.press("ArrowDown");
    const got = await tab.evaluate(() => document.activeElement.href ?? "nothing");
    if (got !== new URL(want, site).href) {
      fault(site, `a search for ${words} leads first to ${got}, not to ${want}`);
      continue;
    }
    await Promise.all([tab.waitForNavigation(), tab.keyboard.press("Enter")]);
    await accessible(tab, fault); // what was found is marked there
  }
  await tab.goto(site.href);
  await tab.keyboard.press("/");
  await tab.keyboard.type("kubelet");
  await tab.waitForFunction(settled, { timeout: 10000 });
  await accessible(tab, fault);
  await tab.goto(site.href);
  await tab.keyboard.press("/");
  await tab.keyboard.type("nothinghasthis");
  await tab.waitForFunction(settled, { timeout: 10000 });
  const status = await tab.$eval("#found p", (element) => element.textContent);
  if (status !== "0 results") fault(site, `a search for what no page has says: ${status}`);
  await tab.keyboard.press("Escape");
  if (await tab.$eval("#found", (element) => !element.hidden)) fault(site, "Escape does not close the results");
}

async function keyboard(tab, site, fault) {
  await tab.goto(site.href);
  await tab.keyboard.press("Tab");
  const first = await tab.evaluate(() => document.activeElement.className);
  await tab.keyboard.press("Enter");
  const then = await tab.evaluate(() => document.activeElement.id);
  if (first !== "skip" || then !== "content") fault(site, `the first key does not skip to the content: ${first}, ${then}`);
}

async function menu(tab, site, fault) {
  await tab.setViewport({ width: 400, height: 800 });
  await tab.goto(site.href);
  const seen = () => tab.$eval("#navigation", (element) => element.checkVisibility());
  if (await seen()) fault(site, "a narrow window begins with an open menu");
  await tab.focus(".menu");
  await tab.keyboard.press("Enter");
  if (!await seen()) fault(site, "the button does not open the menu");
  await accessible(tab, fault);
  await tab.focus(".menu");
  await tab.keyboard.press("Tab");
  await tab.keyboard.press("Escape");
  if (await seen() || await tab.evaluate(() => document.activeElement.className) !== "menu") fault(site, "Escape does not close the menu and go back to its button");
}

async function withoutScripts(tab, site, fault) {
  await tab.setJavaScriptEnabled(false);
  await tab.setViewport({ width: 400, height: 800 });
  await tab.goto(site.href);
  const seen = (selector) => tab.$eval(selector, (element) => element.checkVisibility());
  if (!await seen("#navigation") || await seen(".search") || await seen(".menu")) fault(site, "without scripts there is no navigation, or a part that needs one");
}

// inUse reports what does not work to fault.
export async function inUse(browser, site, fault, watch) {
  for (const use of [search, keyboard, menu, withoutScripts]) {
    const tab = await browser.newPage();
    watch(tab);
    await use(tab, site, fault);
    await tab.close();
  }
}
