// Checks accessibility with axe, in light and in dark.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// accessible reports to fault what axe finds in a tab as it is. In dark only the colours differ.
export async function accessible(tab, fault) {
  const url = new URL(tab.url());
  await tab.evaluate(axe);
  for (const [scheme, options] of [["light", {}], ["dark", { runOnly: ["color-contrast"] }]]) {
    await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    const { violations } = await tab.evaluate((options) => window.axe.run(document, options), options);
    for (const violation of violations) {
      for (const node of violation.nodes) fault(url, `${scheme}: ${violation.id}: ${violation.help}: ${node.target.join(" ")}: ${node.failureSummary}`);
    }
  }
}
