// The report's page in a real browser: it opens from disk and asks nobody for anything, ranks as the program does, keeps a reader's
// choices in its address, shows hostile names as text, and has no serious fault of accessibility.
//
// Started by scripts/test-page.sh with PROGRAM (sensormark), RESULTS (a run's folder), SCRATCH and CHROMIUM.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const { PROGRAM, RESULTS, SCRATCH, CHROMIUM } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});
after(async () => { await browser.close(); });

function report(folder, ...further) {
  return execFileSync(PROGRAM, ["report", folder, ...further], { encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "pipe"] });
}

// Opens the page of a run; every complaint and every request but the page's own is an error.
async function open(folder, { hash = "", width = 1440, theme = "light" } = {}) {
  const file = join(SCRATCH, `page-${Math.random().toString(16).slice(2)}.html`);
  report(folder, "--html", file);
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => { if (!request.url().startsWith(`file://${file}`)) complaints.push(request.url()); });
  page.on("dialog", (dialog) => { complaints.push("a script of a name ran"); dialog.dismiss(); });
  await page.goto(`file://${file}${hash}`);
  return { page, complaints, file };
}

function ranking(page) {
  return page.locator("#live-ranking tbody tr").evaluateAll((rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

async function slide(page, id, value) {
  await page.locator(`[id="${id}"]`).evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, String(value));
}

// The program's own ranking by a weights file: [rank, name, score to one decimal].
function programRanking(weights) {
  const file = join(SCRATCH, "weights.toml");
  const side = (values) => Object.entries(values).map(([name, value]) => `${name} = ${value}`).join("\n");
  writeFileSync(file, `[write]\n${side(weights.write)}\n[read]\n${side(weights.read)}\n`);
  const document = JSON.parse(report(RESULTS, "--format", "json", "--weights", file));
  const table = document.sections.flatMap((section) => section.blocks).find((block) => block.id === "ranking");
  return table.rows.map((row) => [row[0].text, row[1].text, row[2].value]);
}

const EVEN = { time: 6, server_cpu: 3, server_memory: 1, server_io: 2, client_cpu: 3, client_memory: 1, network: 2, difficulty: 1 };

test("it opens from disk, asks nobody, and complains of nothing", async () => {
  const { page, complaints } = await open(RESULTS);
  assert.match(await page.locator("h1").textContent(), /^sensormark: own/);
  assert.ok((await page.locator("table").count()) > 4);
  assert.ok((await page.locator("canvas").count()) >= 3);
  const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
  assert.equal(new Set(ids).size, ids.length, "every id is one element's");
  assert.deepEqual(complaints, []);
  await page.close();
});

test("moving a slider ranks as the program does by the same weights", async () => {
  const { page } = await open(RESULTS);
  const before = await ranking(page);
  assert.ok(before.length > 1, "somebody to compare");
  const cases = [
    { time: 0.5, cpu: 1, disk: 9 },
    { time: 9.5, cpu: 0.4, disk: 0.1 },
  ];
  for (const { time, cpu, disk } of cases) {
    for (const side of ["write", "read"]) {
      await slide(page, `weight-${side}-time`, time);
      await slide(page, `weight-${side}-cpu`, cpu);
    }
    await slide(page, "weight-write-disk", disk);
    const shares = { ...EVEN, time, server_cpu: cpu / 2, client_cpu: cpu / 2 };
    const expected = programRanking({ write: { ...shares, disk }, read: { ...shares, disk: 0 } });
    const shown = await ranking(page);
    assert.deepEqual(shown.map((row) => row.slice(0, 2)), expected.map((row) => row.slice(0, 2)));
    shown.forEach((row, place) => assert.ok(Math.abs(Number(row[2]) - expected[place][2]) < 0.051, `${row} ${expected[place]}`));
  }
  await page.close();
});

test("weights, filters and sections are kept in the address", async () => {
  const { page, file } = await open(RESULTS);
  await slide(page, "weight-write-time", 2.5);
  await page.getByRole("checkbox", { name: "bulk", exact: true }).uncheck();
  await page.locator("nav a", { hasText: "Environment" }).click();
  const address = page.url();
  const shown = await ranking(page);
  assert.ok(shown.length > 0 && shown.every((row) => !row[1].includes("bulk")));
  await page.close();
  const again = await browser.newPage();
  await again.goto(address);
  assert.ok(address.startsWith(`file://${file}#`));
  assert.deepEqual(await ranking(again), shown);
  assert.equal(await again.locator("#weight-write-time").inputValue(), "2.5");
  assert.equal(await again.getByRole("checkbox", { name: "bulk", exact: true }).isChecked(), false);
  assert.equal(await again.locator("#at-environment").evaluate((at) => document.activeElement === at), true);
  await again.close();
});

test("tables say what the JSON says", async () => {
  const { page } = await open(RESULTS);
  const document = JSON.parse(report(RESULTS, "--format", "json"));
  const expected = document.sections.flatMap((section) => section.blocks).filter((block) => block.kind === "table");
  assert.ok(expected.length > 4);
  for (const table of expected) {
    const shown = await page.locator(`[id="table-${table.id}"] tbody tr`).evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(shown, table.rows.map((row) => row.map((cell) => cell.text)), table.id);
  }
  await page.close();
});

test("a table is kept as CSV with every figure in full", async () => {
  const { page } = await open(RESULTS);
  const section = page.locator("div", { has: page.locator("> h3#title-costs_write") }).last();
  const [download] = await Promise.all([page.waitForEvent("download"), section.getByRole("button", { name: "CSV" }).click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
  assert.match(lines[0], /^implementation,/);
  assert.ok(lines.length > 2 && lines.every((line) => line.split(",").length === lines[0].split(",").length));
  await page.close();
});

test("hostile names are shown, not run", async () => {
  const hostile = `<img src=x onerror=alert(1)></script><script>alert(2)</script>`;
  const folder = join(SCRATCH, "hostile");
  cpSync(RESULTS, folder, { recursive: true });
  for (const name of readdirSync(join(folder, "trials"))) {
    const file = join(folder, "trials", name);
    const trial = JSON.parse(readFileSync(file, "utf8"));
    trial.implementation.title = hostile;
    trial.warnings = [hostile];
    writeFileSync(file, JSON.stringify(trial));
  }
  const { page, complaints } = await open(folder);
  assert.ok((await page.locator("body").textContent()).includes(hostile));
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("runs are listed and compared by a server on loopback", async () => {
  const server = spawn(PROGRAM, ["serve", RESULTS, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const line = await new Promise((told) => server.stdout.once("data", (data) => told(String(data))));
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    const complaints = [];
    page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
    await page.goto(line.match(/http:\/\/\S+/)[0]);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => one.id), []);
    await page.getByRole("radio", { name: /as first$/ }).check();
    await page.getByRole("radio", { name: /as second$/ }).check();
    await page.getByRole("button", { name: "Compare" }).click();
    assert.match(await page.locator("main").textContent(), /0 better, 0 worse/);
    assert.deepEqual(complaints.filter((text) => !text.includes("favicon")), []);
    await page.close();
  } finally {
    server.kill();
  }
});

for (const [width, theme] of [[390, "dark"], [768, "light"], [1440, "dark"], [1440, "light"]]) {
  test(`no serious fault of accessibility at ${width} px, ${theme}, and nothing sticks out`, async () => {
    const { page, complaints } = await open(RESULTS, { width, theme });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => window.axe.run());
    const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
    assert.deepEqual(serious.map((one) => [one.id, one.nodes[0].html]), []);
    assert.deepEqual(complaints, []);
    await page.close();
  });
}
