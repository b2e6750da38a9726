// Takes the pictures of the console in docs/guide/console/: each page in both themes, from a server with sample requests.
// Look at them before they are committed. Needs Chromium on PATH or in CHROMIUM.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { createApp, type App } from '../src/app.ts'
import { dayMs, systemClock } from '../src/base/clock.ts'
import { stringify } from 'yaml'
import { readConfig } from '../src/config/config.ts'

const target = join(import.meta.dirname, '../docs/guide/console')
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const viewport = { width: 1280, height: 800 }

const otherPages = [
  ['policies', 'policies'],
  ['gateway', 'gateway'],
  ['models', 'models'],
  ['costs', 'costs?range=30d&by=tag:team'],
  ['budgets', 'costs?view=budgets'],
  ['limits', 'limits'],
  ['sinks', 'sinks'],
  ['audit', 'audit'],
  ['keys', 'projects'],
  ['members', 'members'],
  ['settings', 'settings'],
] as const

const sampleTexts = [
  'Summarize the minutes of the meeting',
  'Translate this letter into French',
  'When does the falcon project begin?',
  'Which dose of the medicine is usual?',
  'Write a short answer to this customer',
  'Charge the card 4929 1234 for the invoice',
  'List the open tickets of this week',
]

const members = [
  ['Ada Lindgren', 'ada@example.com', 'owner'],
  ['Bram de Vries', 'bram@example.com', 'publisher'],
  ['Chiara Conti', 'chiara@example.com', 'auditor'],
  ['Deniz Kaya', 'deniz@example.com', 'developer'],
]

const teams = ['support', 'search', 'search', 'research', 'support', 'support'] as const
const users = ['ada', 'bram', 'chiara', 'ada', 'deniz', 'ada', 'bram'] as const

const budgets = [
  { name: 'Everything', amount_usd: 7, period: 'month', time_zone: 'Europe/Berlin' },
  { name: 'Each team', amount_usd: 5, period: 'month', per: 'tag:team', action: 'use_model:assistant-small' },
  { name: 'Each user', amount_usd: 2.6, period: 'month', per: 'user', action: 'warn' },
  { name: 'Trial of research', requests: 500, period: 'once', match: { tags: { team: ['research'] } } },
  { name: 'Tokens of the large model', tokens: 2_000_000, period: 'month', match: { models: ['assistant-large'] } },
] as const

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
/** High limits, and models with prices. */
const settings = {
  storage: { data_dir: './data' },
  server: { port: 0 },
  log: { level: 'silent' },
  budgets: { tags: ['team'] },
  credits: { starting: 50_000 },
  limits: { tiers: { free: { rpm: 0, rpd: 0, tpm: 0, tpd: 0 } } },
  console: {
    oidc: { issuer: 'https://id.example.com', client_id: 'gatehouse', client_secret: 'secret', name: 'Example ID' },
  },
  upstreams: [
    { name: 'local', kind: 'echo' },
    { name: 'second', kind: 'echo' },
  ],
  models: [
    {
      name: 'assistant-large',
      targets: [
        { upstream: 'local', model: 'echo' },
        { upstream: 'second', model: 'echo' },
      ],
      price: { input: 3, output: 15 },
    },
    { name: 'assistant-small', targets: [{ upstream: 'second', model: 'echo' }], price: { input: 0.25, output: 1.25 } },
  ],
}
writeFileSync(join(folder, 'gatehouse.yaml'), stringify(settings))
process.chdir(folder)
/** The samples are sent within seconds. The clock of the server spreads them over a day. */
let aheadMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  await using app = await createApp(readConfig({}), {}, { clock })
  const { api: url } = await app.listen()
  const { denied, policyId } = await sendSamples(app, url)
  mkdirSync(target, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport, colorScheme })
    const page = await context.newPage()
    const link = await app.client.post<{ url: string }>('/operator/organization/console_links', {})
    await page.goto(link.url)
    await page.getByText(/^All requests [34]\d\d$/).waitFor({ timeout: 30_000 })
    await take(page, `overview-${colorScheme}`)
    await page.goto(`${url}/console/requests`)
    await page.getByRole('row').nth(1).waitFor()
    await take(page, `requests-${colorScheme}`)
    await page.goto(`${url}/console/requests/${denied}`)
    await page.getByRole('heading', { name: 'Checks' }).waitFor()
    await take(page, `request-${colorScheme}`)
    for (const [name, path] of otherPages) {
      await page.goto(`${url}/console/${path}`)
      await page.waitForLoadState('networkidle')
      await take(page, `${name}-${colorScheme}`)
    }
    await page.goto(`${url}/console/playground`)
    await page.getByLabel('Message 1', { exact: true }).fill('When does the falcon project begin?')
    await page.getByRole('button', { name: 'Send to the model' }).click()
    await page
      .getByText(/^Denied by the policy/)
      .first()
      .waitFor()
    await page.getByRole('cell', { name: 'Deny' }).first().waitFor()
    await take(page, `playground-${colorScheme}`)
    await page.goto(`${url}/console/policies/${policyId}`)
    await page.locator('.cm-content').waitFor()
    await take(page, `policy-${colorScheme}`)
    await context.close()
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

async function take(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Theme' }).waitFor() // the menus of the top bar are loaded after the page
  await page.screenshot({ path: join(target, `${name}.png`) })
  console.log(`docs/guide/console/${name}.png`)
}

type Keys = { readonly api_key: string; readonly admin_key: string }

function senderTo(url: string) {
  return (path: string, body: unknown, from: string | { readonly key: string; readonly tags: string }) => {
    const [key, tagged] = typeof from === 'string' ? [from, {}] : [from.key, { 'x-policy-tags': from.tags }]
    return fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...tagged },
      body: JSON.stringify(body),
    })
  }
}

/** Sends long requests of teams and users in the four weeks before the day of the other samples, and creates budgets. */
async function sendSpend(url: string, keys: Keys): Promise<void> {
  const send = senderTo(url)
  const count = 300
  for (let at = 0; at < count; at++) {
    const day = 1.1 + (28 * (count - at)) / count
    aheadMs = -day * dayMs
    const content = `${sampleTexts[at % 2]} (${at}). `.repeat(90 + ((at * 37) % 160))
    const body = {
      model: at % 5 === 0 ? 'assistant-small' : 'assistant-large',
      max_tokens: 4_000,
      messages: [{ role: 'user', content }],
      metadata: { user_id: users[at % users.length] },
    }
    const tags = `team=${teams[at % teams.length]}`
    const response = await send('/v1/messages', body, { key: keys.api_key, tags })
    await response.text()
  }
  aheadMs = 0
  for (const budget of budgets) await send('/v1/organization/budgets', budget, keys.admin_key)
}

/** Sends requests that are allowed, denied, changed and failed. Returns the ids of a denied one and of a policy. */
async function sendSamples({ client }: App, url: string): Promise<{ denied: string; policyId: string }> {
  const keys = await client.post<Keys>('/operator/setup', {
    name: 'Nordwind Energie',
  })
  const send = senderTo(url)
  let policyId = ''
  for (const [name, rule, mode] of [
    ['No code names', 'cel:text.contains("falcon") ? 1.0 : 0.0', 'enforcing'],
    ['No payment data', 'cel:text.matches("[0-9]{4} [0-9]{4}") ? 1.0 : 0.0', 'enforcing'],
    ['Medical advice', 'cel:text.contains("dose") ? 0.7 : 0.0', 'monitoring'],
  ]) {
    const created = await send('/v1/organization/policies', { name, rule, mode }, keys.admin_key)
    const { id } = (await created.json()) as { id: string }
    policyId ||= id
    await send(`/v1/organization/policies/${id}/publish`, { revision: 1 }, keys.admin_key)
  }
  for (const [name, email, role] of members)
    await send('/v1/organization/members', { name, email, role }, keys.admin_key)
  const expiresAt = Math.floor(systemClock.nowMs() / 1000) + 3 * 86_400
  await send(
    '/v1/organization/admin_api_keys',
    { name: 'Reports', role: 'auditor', expires_at: expiresAt },
    keys.admin_key,
  )
  await sendSpend(url, keys)
  let denied = ''
  const count = 400
  for (let at = 0; at < count; at++) {
    aheadMs = -dayMs * (1 - (at + 1) / count) ** 2
    const text = sampleTexts[at % sampleTexts.length] ?? ''
    const model = at % 37 === 36 ? 'retired-model' : at % 4 === 0 ? 'assistant-small' : 'assistant-large'
    const body = {
      model,
      max_tokens: 100,
      stream: at % 2 === 0,
      messages: [{ role: 'user', content: `${text} (${at})` }],
    }
    const response = await send(at % 3 === 0 ? '/v1/chat/completions' : '/v1/messages', body, keys.api_key)
    await response.text()
    if (text.includes('falcon')) denied = response.headers.get('x-request-id') ?? denied
  }
  return { denied, policyId }
}
