import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import assert from 'node:assert/strict'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

/** Chromium from `CHROMIUM` or `PATH`. The headless shell uses half the CPU time. Nothing is downloaded. */
const executablePath =
  process.env['CHROMIUM'] ?? findOnPath(['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'])

/** Why browser tests cannot run here. With CI=true the missing browser is a failure instead. */
export const withoutBrowser: string | false =
  executablePath === undefined && process.env['CI'] !== 'true' && 'no Chromium: install it, or set CHROMIUM'

export async function launchBrowser(): Promise<Browser> {
  assert.ok(executablePath, 'Chromium is missing: install the package chromium, or set CHROMIUM')
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

export type OpenPage = AsyncDisposable & {
  readonly page: Page
  /** Errors of scripts and violations of the content security policy, in order. */
  readonly errors: readonly string[]
}

/** A page with a profile of its own. Without motion, because colours in transition fail the contrast rule of axe. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  // A 401 before signing in is expected, and Chromium logs it.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 40[14]/.test(message.text())) errors.push(message.text())
  })
  return { page, errors, [Symbol.asyncDispose]: () => context.close() }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * The violations of WCAG 2.2 AA and of best practice on the page, without the rule that all content is in a landmark: an open
 * menu is in none. Evaluated, because the policy of the page forbids further script elements.
 */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  return page.evaluate(`${axe}; axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], rules: { region: { enabled: false } } }).then(
    ({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`)
}

function findOnPath(names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
