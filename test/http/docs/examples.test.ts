import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { createOneOfEach } from '../../support/administration-routes.ts'
import { itemsOf, textOf } from '../../support/administration.ts'
import { operationsIn } from '../../support/docs-page.ts'
import { startExportScene, type ExportScene } from '../../support/export-scene.ts'
import { webhookConfig } from '../../support/gateway-suite.ts'
import { misfits, operationsOf } from '../../support/openapi.ts'

let scene = await startExportScene()
after(() => scene[Symbol.asyncDispose]())
/** The address in the examples. */
const { url } = scene
const operations = operationsIn(await (await fetch(`${url}/docs`)).text())

describe('the examples in the schemas', () => {
  for (const { method, path, parameters, body, answers } of operationsOf(scene.app.openapi(), '/')) {
    it(`${method} ${path} has one of its body and of its answer, and both are valid`, () => {
      const success = Math.min(...Object.keys(answers).map(Number))
      const schemas = [...(body === undefined ? [] : [body]), answers[success] ?? {}]
      for (const schema of schemas) {
        if (Object.keys(schema).length === 0) continue // a page or a file
        assert.ok((schema.examples?.length ?? 0) > 0, 'add `examples` to the schema')
        for (const example of schema.examples ?? []) assert.deepEqual(misfits(schema, example), [])
      }
      const required = parameters.filter((each) => each.required)
      for (const { name, schema } of required) assert.ok(schema.examples?.[0] !== undefined, `${name} has no example`)
    })
  }
})

describe('the example answer of each endpoint on the page', () => {
  const described = operationsOf(scene.app.openapi(), '/')
  for (const { route, status = 200, answer = '' } of operations) {
    const schema = described.find(({ method, path }) => `${method} ${path}` === route)?.answers[status]
    if (schema?.type === undefined || schema.type === 'string') continue // a page, a file or metrics
    it(`${route} matches the schema of its ${status}`, () => {
      assert.deepEqual(misfits(schema, JSON.parse(answer)), [])
    })
  }
})

/**
 * Examples for a state that differs from the one of a new policy at revision 2, which is published. An id that a preparation returns
 * takes the place of the usual one.
 */
const preparations: Readonly<Record<string, (ids: Ids) => Promise<Ids | void>>> = {
  /** Names of policies are unique, and the example in another language has created it. */
  async createPolicy() {
    const named = itemsOf(await scene.admin.get('/policies?search=No+project+names'))
    for (const policy of named)
      await scene.admin.send('DELETE', `/policies/${textOf(policy)}?revision=${String(policy['revision'])}`)
  },
  /** Addresses of members are unique, too. */
  async createMember() {
    for (const member of itemsOf(await scene.admin.get('/members?search=ada@example.com')))
      await scene.admin.send('DELETE', `/members/${textOf(member)}`)
  },
  /** Names of upstreams and models are unique as well. */
  async createUpstream() {
    await scene.admin.send('DELETE', '/models/support-model')
    await scene.admin.send('DELETE', '/upstreams/my-server')
  },
  async createModel() {
    await addServer()
    await scene.admin.send('DELETE', '/models/support-model')
  },
  /** So are those of judges. */
  async createJudge() {
    for (const judge of itemsOf(await scene.admin.get('/judges?limit=100')))
      if (judge['name'] === 'Small and fast') await scene.admin.send('DELETE', `/judges/${textOf(judge)}`)
  },
  updateModel: addServer,
  /** Only denials can be appealed. */
  async appealDecision() {
    const messages = [{ role: 'user', content: 'I want to kill myself tonight.' }]
    const response = await scene.post('/v1/messages', { model: 'gatehouse-echo', max_tokens: 5, messages })
    const { policy } = (await response.json()) as { policy: { event_id: string } }
    return { evt: policy.event_id }
  },
  publishPolicy: changeDraft,
  discardPolicyDraft: changeDraft,
  async rollOutPolicy({ pol }) {
    const rule = 'cel:text.contains("Project Falcon")' // not for a judge, which another example activates
    await scene.admin.send('PATCH', `/policies/${pol}`, { body: { revision: 2, mode: 'enforcing', rule } })
    await scene.admin.post(`/policies/${pol}/publish`, { revision: 3 })
  },
  async resumePolicy({ pol }) {
    await scene.admin.post(`/policies/${pol}/pause`, { revision: 2 })
  },
  async rollbackPolicy({ pol }) {
    await scene.admin.send('PATCH', `/policies/${pol}`, { body: { revision: 2, rule: 'Say "yes"' } })
    await scene.admin.post(`/policies/${pol}/publish`, { revision: 3 })
  },
}

describe('the example of each endpoint, pasted into a shell', () => {
  for (const operation of operations) {
    const { name, route, snippets, status = 200 } = operation
    it(`${route} answers ${status}`, async () => {
      const ids = await idsFor(route)
      const own = { ...ids, ...(await preparations[name]?.(ids)) }
      const code = await withIds(snippets['curl'] ?? '', own)
      const printed = await run('bash', ['-c', `${code} -sS -w '\n%{http_code}'`])
      assert.equal(printed.slice(printed.lastIndexOf('\n') + 1), String(status), printed)
    })
  }
})

describe('the example of each endpoint in Node', () => {
  for (const { name, route, snippets, status = 200 } of operations) {
    const example = snippets['Node'] ?? ''
    const usesSdk = example.startsWith('import')
    it(`${name} runs${usesSdk ? ' with the vendor’s SDK' : ` and answers ${status}`}`, async () => {
      const ids = await idsFor(route)
      const own = { ...ids, ...(await preparations[name]?.(ids)) }
      const code = await withIds(example, own)
      if (!usesSdk) assert.equal((await evaluate(code))[0], status)
      else assert.notEqual(await run(process.execPath, ['--input-type=module', '-e', code]), '')
    })
  }

  it('covers every inference endpoint with an SDK', () => {
    const withSdk = operations.filter(({ snippets }) => snippets['Node']?.startsWith('import'))
    assert.ok(withSdk.length >= 10)
  })
})

/** The upstream that the examples of models name. */
async function addServer(): Promise<void> {
  await scene.admin.send('POST', '/upstreams', { body: { name: 'my-server', kind: 'echo' } })
}

async function changeDraft({ pol }: Ids): Promise<void> {
  await scene.admin.send('PATCH', `/policies/${pol}`, { body: { revision: 2, rule: 'Say "yes"' } })
}

/** Runs code without imports, and returns what it prints. */
async function evaluate(code: string): Promise<readonly unknown[]> {
  const printed: unknown[] = []
  const env = { GATEHOUSE_KEY: scene.apiKey, GATEHOUSE_ADMIN_KEY: scene.adminKey }
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  const main = new AsyncFunction('process', 'console', code)
  await main({ env }, { log: (...values: unknown[]) => printed.push(...values) })
  return printed
}

/** Real ids by the prefix of the ids in the examples. */
type Ids = Readonly<Record<string, string>>

let unchanged: Ids | undefined
/** How often objects were created in the organization. Each time takes longer, because every published policy evaluates requests. */
let created = 0
const mostCreated = 15

/** An example that changes something gets objects of its own, and the next one new objects. */
async function idsFor(route: string): Promise<Ids> {
  const ids = unchanged ?? (await createNew())
  unchanged = route.startsWith('GET ') ? ids : undefined
  return ids
}

async function createNew(): Promise<Ids> {
  if (++created % mostCreated === 0) {
    await scene[Symbol.asyncDispose]()
    scene = await startExportScene()
  }
  return createIds(scene)
}

async function createIds(app: ExportScene): Promise<Ids> {
  const { revision } = await app.admin.get('/publish_gate')
  await app.admin.send('PUT', '/publish_gate', { body: { revision } }) // an example sets it for all policies
  for (const each of itemsOf((await app.gateway('GET', '/config/cases')).body))
    await app.gateway('DELETE', `/config/cases/${textOf(each)}`) // they are not about the configuration of other examples
  const own = await createOneOfEach(app.admin)
  for (const sink of itemsOf((await app.gateway('GET', '/exports')).body))
    await app.gateway('DELETE', `/exports/${textOf(sink)}`) // the number of sinks of an organization is limited
  for (const view of itemsOf(await app.admin.get('/views')))
    if (textOf(view) !== own.view_id) await app.admin.send('DELETE', `/views/${textOf(view)}`) // that of views as well
  // Those of alert channels, rules and budgets, too.
  for (const [path, kept] of [
    ['/alert_rules', own.rule_id],
    ['/alert_channels', own.channel_id],
    ['/budgets', own.budget_id],
  ] as const)
    for (const each of itemsOf(await app.admin.get(path)))
      if (textOf(each) !== kept) await app.admin.send('DELETE', `${path}/${textOf(each)}`)
  const { id } = (await (await app.post('/v1/responses', { model: 'gatehouse-echo', input: 'Hello' })).json()) as {
    id: string
  }
  return {
    pol: own.policy_id,
    polv: own.version_id,
    proj: own.project_id,
    key: own.key_id,
    adk: own.admin_key_id,
    bt: own.backtest_id,
    case: own.case_id,
    gate: own.gate_run_id,
    exc: own.exception_id,
    jdg: own.judge_id,
    cal: own.calibration_id,
    aver: own.verification_id,
    mem: own.member_id,
    ses: own.sign_in_id,
    view: own.view_id,
    ups: own.upstream_id,
    mdl: own.model_id,
    chan: own.channel_id,
    rule: own.rule_id,
    apl: own.appeal_id,
    bud: own.budget_id,
    sink: textOf(await app.createSink(webhookConfig)),
    resp: id,
    req: await app.admin.infer(app.apiKey),
    evt: textOf(itemsOf(await app.admin.get('/audit_logs?kind=gateway.request.decided&limit=1'))[0] ?? {}),
  }
}

/** The code with real ids and the current revision of the policy, its case or its gate. */
async function withIds(code: string, ids: Ids): Promise<string> {
  const own = { ...ids, ...(await gatewayIds(code)) }
  const real = code
    .replaceAll(url, scene.url)
    .replaceAll(/\b([a-z]+)_01[0-9a-z]{24}\b/g, (id, prefix: string) => own[prefix] ?? id)
    .replaceAll(/(\bexpires_at"?: ?)\d+/g, `$1${Math.floor(Date.now() / 1000) + 86_400}`)
  // A new case of the gateway configuration, a new judge and a new budget are at revision 1, as in the example.
  if (real.includes('/config/cases/') || real.includes('/judges/') || real.includes('/budgets/')) return real
  const ofCase = real.includes('/cases/case_') ? `/cases/${ids['case']}` : ''
  const ofGate = real.includes('/publish_gate') ? '/publish_gate' : ''
  const isOfPolicy = !real.includes('/v1/organization/publish_gate')
  const { revision } = await scene.admin.get(`${isOfPolicy ? `/policies/${ids['pol']}` : ''}${ofCase}${ofGate}`)
  return real.replaceAll(/(\brevision"?[:=] ?)\d+/g, `$1${String(revision)}`)
}

/** Ids of what belongs to the gateway configuration. They have the prefixes of what belongs to a policy. */
async function gatewayIds(code: string): Promise<Ids> {
  const create = async (path: string, body: object, key = scene.adminKey): Promise<string> =>
    textOf((await scene.gateway('POST', path, { body, key })).body)
  if (code.includes('/config/backtest/')) return { bt: await create('/config/backtest', {}) }
  // The example approves with the administrator's key, which must not have started the run.
  if (code.includes('/config/gate/')) return { gate: await create('/config/gate', { config: {} }, scene.apiKey) }
  if (!code.includes('/config/cases/')) return {}
  return { case: await create('/config/cases', { says: 'Named', given: { text: 'x' }, expect: 'allow' }) }
}

async function run(command: string, options: readonly string[]): Promise<string> {
  const child = spawn(command, options, {
    cwd: import.meta.dirname, // so that the SDKs are found
    env: { PATH: process.env['PATH'], GATEHOUSE_KEY: scene.apiKey, GATEHOUSE_ADMIN_KEY: scene.adminKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [printed, problem, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ])
  assert.equal(exitCode, 0, problem)
  return printed
}
