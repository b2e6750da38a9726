import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'yaml'
import type { Workers } from '../src/app/workers.ts'
import { findProgram } from '../scripts/test/binaries.ts'
import { createFakeEncoder, opens } from './support/fake-encoder.ts'
import { startTestApp, type TestApp } from './support/app.ts'
import { createScratchDatabase, withoutPostgres } from './support/postgres.ts'
import { redisUrl, withoutRedis } from './support/redis.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { answerJson, startUpstream } from './support/upstream.ts'

const folder = 'deploy/observability'
const promtool = findProgram('promtool')
const withoutPromtool = promtool === undefined && 'needs promtool, from the Debian package prometheus'

type Dashboard = { readonly title: string; readonly panels: readonly Panel[] }
type Panel = { readonly title: string; readonly targets: readonly { readonly expr: string }[] }
type Alert = { readonly alert: string; readonly expr: string; readonly annotations: Readonly<Record<string, string>> }

const readText = (path: string): string => readFileSync(path, 'utf8')
const dashboards = globSync(`${folder}/dashboards/*.json`).map((file): Dashboard => JSON.parse(readText(file)))
const rules: { groups: { rules: Alert[] }[] } = parse(readText(`${folder}/alerts.yaml`))
const alerts = rules.groups.flatMap((group) => group.rules)
const queries = [
  ...dashboards.flatMap(({ title, panels }) =>
    panels.flatMap((panel) => panel.targets.map(({ expr }) => ({ from: `${title}, ${panel.title}`, expr }))),
  ),
  ...alerts.map(({ alert, expr }) => ({ from: alert, expr })),
]

const metricPattern = /\b(?:gatehouse|nodejs|process)_\w+/g
/** Labels that Prometheus adds to every series, and the bound of a bucket. */
const labelsOfPrometheus = ['instance', 'job', 'le']

/** The labels that a query selects or groups by. */
function labelsIn(query: string): string[] {
  const selected = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) =>
    [...inner.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  )
  const grouped = [...query.matchAll(/\b(?:by|ignoring|on) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/,\s*/),
  )
  return [...selected, ...grouped]
}

/** The series of an exposition: the labels of each metric. A metric without series has none yet. */
function labelsByMetric(exposition: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const [, name = '', type] of exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name]
    for (const each of names) found.set(each, new Set())
  }
  for (const [, name = '', inner = ''] of exposition.matchAll(/^(\w+)\{(.*)\} \S+$/gm))
    for (const [, label = ''] of inner.matchAll(/(\w+)="/g)) found.get(name)?.add(label)
  return found
}

/** A worker that is alone with one that has died. */
const workers: Workers = {
  number: 1,
  count: 2,
  states: () => [
    { number: 1, isReady: true, restarts: 0 },
    { number: 2, isReady: false, restarts: 1 },
  ],
  readOthers: async () => [],
  answerWith() {},
}

/** An app with every optional part, after one answered and one failed request. */
async function startScene() {
  await using built = new AsyncDisposableStack()
  const database = built.use(await createScratchDatabase())
  const message = { role: 'assistant', content: 'Hello' }
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
  const answer = answerJson({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
  const upstream = built.use(await startUpstream(answer, answerJson({ error: { message: 'broken' } }, 500)))
  const app = built.use(
    await startTestApp({
      storage: { database_url: database.url, redis_url: redisUrl },
      config: {
        secret: 'a secret of at least thirty-two characters',
        upstreams: [{ name: 'first', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [{ name: 'm', targets: [{ upstream: 'first' }] }],
        policies: { judge: { model: 'm' } },
        moderation: { encoder: 'auto' },
      },
      openEncoder: opens(createFakeEncoder(() => ({}))),
      workers,
    }),
  )
  for (const status of [200, 502]) {
    const response = await app.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    assert.equal(response.status, status, await response.text())
  }
  const kept = built.move()
  return { app, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

describe('the dashboards and alerts, compared with /metrics', { skip: withoutPostgres || withoutRedis }, () => {
  let scene: AsyncDisposable & { readonly app: TestApp }
  let exposition: string

  before(async () => {
    scene = await startScene()
    const read = async (): Promise<string> => (await scene.app.get('/metrics')).text()
    exposition = await read()
    // The counters of jobs have no series before the first run.
    for (; !exposition.includes('gatehouse_job_runs_total{'); exposition = await read()) await setTimeout(50)
  })
  after(() => scene[Symbol.asyncDispose]())

  it('use only metrics and labels that exist', () => {
    const known = labelsByMetric(exposition)
    const problems = queries.flatMap(({ from, expr }) => {
      const metrics = expr.match(metricPattern)?.filter((word) => !labelsIn(expr).includes(word)) ?? []
      const labels = new Set(metrics.flatMap((metric) => [...(known.get(metric) ?? [])]))
      const missing = metrics.filter((metric) => !known.has(metric))
      const unknown = labelsIn(expr).filter((label) => !labels.has(label) && !labelsOfPrometheus.includes(label))
      return [...missing, ...unknown].map((name) => `${from}: ${name}`)
    })
    assert.deepEqual(problems, [])
    assert.ok(queries.length > 50)
  })

  it('can be scraped: promtool finds no problem in the metrics of the gateway', { skip: withoutPromtool }, () => {
    const ours = exposition.split('\n').filter((line) => /^(?:# \w+ )?gatehouse_/.test(line))
    const { status, stderr } = spawnSync(promtool || '', ['check', 'metrics'], { input: `${ours.join('\n')}\n` })
    assert.equal(status, 0, String(stderr))
  })
})

describe('the alerts', () => {
  it('link to the heading of the guide that tells what to do', () => {
    const headings = [...readText('docs/guide/observe.md').matchAll(/^### (\w+)$/gm)].map(([, name]) => name)
    assert.deepEqual(
      headings,
      alerts.map(({ alert }) => alert),
    )
    for (const { alert, annotations } of alerts)
      assert.equal(annotations['runbook'], `docs/guide/observe.md#${alert.toLowerCase()}`)
  })

  it('each have a test of promtool in which they fire', () => {
    const { tests } = parse(readText(`${folder}/alerts.test.yaml`))
    const fired = tests.flatMap((test: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }) =>
      test.alert_rule_test.filter((one) => one.exp_alerts.length > 0).map((one) => one.alertname),
    )
    assert.deepEqual(
      [...new Set(fired)],
      alerts.map(({ alert }) => alert),
    )
  })

  it('pass their tests', { skip: withoutPromtool }, () => {
    execFileSync(promtool || '', ['test', 'rules', 'alerts.test.yaml'], { cwd: folder, stdio: 'pipe' })
  })
})

describe('the dashboards', () => {
  it('are the five that the guide describes', () => {
    const titles = dashboards.map(({ title }) => title.replace('Gatehouse: ', '')).sort()
    assert.deepEqual(titles, ['Governance', 'Money and limits', 'Node', 'Storage', 'Traffic'])
    const guide = readText('docs/guide/observe.md')
    for (const title of titles) assert.ok(guide.includes(`| ${title} |`), title)
  })

  it('have queries that Prometheus can parse', { skip: withoutPromtool }, async () => {
    await using scratch = await temporaryFolder()
    const expressions = queries.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'))
    const group = { name: 'queries', rules: expressions.map((expr, at) => ({ record: `query_${at}`, expr })) }
    const file = join(scratch.path, 'queries.json')
    writeFileSync(file, JSON.stringify({ groups: [group] })) // JSON is YAML
    execFileSync(promtool || '', ['check', 'rules', file], { stdio: 'pipe' })
  })
})
