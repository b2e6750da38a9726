import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { SecretStatusBody } from '../../src/http/operator/secret.ts'
import { replaceSecret } from '../../src/adapters/stores/sql/sqlite/data-folder.ts'
import { systemRandom } from '../../src/base/random.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { pageParts, verifyInPage } from '../support/audit-proof.ts'
import { startExportScene } from '../support/export-scene.ts'
import { adminOf } from '../support/administration.ts'
import { startTestApp } from '../support/app.ts'
import { answerWith } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

const message = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

const sinkAt = (url: string) => ({ url, secret: 'at-least-24-plain-characters' })

describe('rotating the secret of a data folder', () => {
  it('keeps keys, sinks, stored replies and the audit log working while the server runs, and after the old secret is removed', async (t) => {
    await using folder = await temporaryFolder()
    const run = commandAt(folder.path)
    const pinned = join(folder.path, 'pinned.pem')
    const made = await fill(t, folder.path)
    const left = join(folder.path, 'left.ndjson')
    writeFileSync(pinned, (await run('audit', 'keys'))[1])
    writeFileSync(left, (await run('audit', 'export'))[1])
    const before = readFileSync(join(folder.path, 'secret'), 'utf8')

    {
      await using server = await restart(folder.path)
      assert.equal((await server.send(made.apiKey)).status, 200, 'known to this process before the rotation')
      const rotated = await status(run, 'rotate')
      assert.equal(readFileSync(join(folder.path, 'secret.previous'), 'utf8'), before)
      assert.notEqual(readFileSync(join(folder.path, 'secret'), 'utf8'), before)
      assert.deepEqual(rotated.needs_previous, { keys: 2, encrypted_values: 0, audit_logs: 0, audit_texts: 0 })

      assert.match((await run('secret', 'retire'))[1], /2 keys were not used since the rotation/)
      assert.equal((await server.send(made.apiKey)).status, 200)
      assert.equal((await server.administer(made.adminKey)).status, 200)
      while ((await status(run)).is_previous_needed) await new Promise((resolve) => setTimeout(resolve, 20))
      const replayed = await made.createProject(server.url)
      assert.deepEqual([replayed.headers.get('idempotent-replayed'), await replayed.json()], ['true', made.project])
      assert.equal(await server.testSink(made), true)

      assert.equal((await run('secret', 'retire'))[0], 0)
      assert.equal(existsSync(join(folder.path, 'secret.previous')), false)
      assert.equal((await server.send(made.apiKey)).status, 200)
      assert.equal(await server.testSink(made), true)
    }

    await using server = await restart(folder.path)
    assert.equal((await server.send(made.apiKey)).status, 200)
    assert.equal((await server.administer(made.adminKey)).status, 200)
    assert.match(await server.casesOf(made), /a text of a case/)
    assert.match(await server.casesOf({ ...made, cases: gatewayCases }), /a text of the gateway/)
    const [code, output] = await run('audit', 'verify')
    assert.match(
      output,
      /^Proven: events 1 to \d+, signed on \S+ with the key \w+, derived from the server secret, and the key \w+, trusted by handover\.$/m,
    )
    assert.doesNotMatch(output, /were not checked/)
    assert.equal(code, 0, output)
    for (const option of ['--against', '--file']) {
      const [comparison, compared] = await run('audit', 'verify', option, left)
      assert.equal(comparison, 0, compared)
    }
    const [oldPin, oldSays] = await run('audit', 'verify', '--keys', pinned)
    assert.match(
      oldSays,
      /^Proven: events 1 to \d+, .* with the key \w+, pinned in the file of --keys, and the key \w+, trusted by handover\.$/m,
      'the old key handed over to the new one',
    )
    assert.equal(oldPin, 0, oldSays)
    assert.match((await run('doctor'))[1], /^✓ server secret: [0-9a-f]{16}$/m)

    const proof = pageParts((await run('audit', 'proof'))[1])
    const oldKey = readFileSync(pinned, 'utf8').replace(/^\w+\n/, '')
    for (const keys of [undefined, [oldKey]]) {
      const { finding, signatureFinding, signed } = await verifyInPage(proof, keys)
      assert.deepEqual([finding, signatureFinding, signed?.keyIds.length], [undefined, undefined, 2])
    }
  })

  it('keeps the keys of upstreams that an organization added', async () => {
    await using folder = await temporaryFolder()
    await using upstream = await startUpstream(answerWith('Hello', { input: 1, output: 1 }))
    const run = commandAt(folder.path)
    const chat = { model: 'added', messages: [{ role: 'user', content: 'Hi' }] }
    let apiKey: string
    {
      await using server = await startTestApp({ storage: { data_dir: folder.path } })
      apiKey = server.apiKey
      const admin = adminOf(server.url, server.adminKey)
      const own = { name: 'own', kind: 'openai-chat', base_url: upstream.url, api_key: 'sk-of-the-test' }
      await admin.post('/upstreams', own)
      await admin.post('/models', { name: 'added', targets: [{ upstream: 'own' }] })
      assert.equal((await status(run, 'rotate')).needs_previous.encrypted_values, 0)
      assert.equal((await server.post('/v1/chat/completions', chat)).status, 200)
    }
    await run('secret', 'retire', '--force')
    await using server = await restart(folder.path)
    assert.equal((await server.post('/v1/chat/completions', chat, { authorization: `Bearer ${apiKey}` })).status, 200)
    assert.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer sk-of-the-test')
  })

  it('continues where it was interrupted, and creates no third secret', async (t) => {
    await using folder = await temporaryFolder()
    const run = commandAt(folder.path)
    await fill(t, folder.path)
    replaceSecret(folder.path, systemRandom)
    const secrets = () => ['secret', 'secret.previous'].map((name) => readFileSync(join(folder.path, name), 'utf8'))
    const left = secrets()
    const interrupted = await status(run)
    assert.ok(interrupted.needs_previous.encrypted_values > 0 && interrupted.needs_previous.audit_logs === 1)
    assert.match((await run('doctor'))[1], /^! server secret: .* the previous one is still needed by 2 keys and more/m)
    const rotated = await status(run, 'rotate')
    assert.deepEqual(rotated.needs_previous, { keys: 2, encrypted_values: 0, audit_logs: 0, audit_texts: 0 })
    assert.deepEqual([secrets(), await status(run, 'rotate')], [left, rotated])
    assert.equal((await run('audit', 'verify'))[0], 0)
  })

  it('starts again if the old secret was saved and the new one not created yet', async (t) => {
    await using folder = await temporaryFolder()
    const run = commandAt(folder.path)
    await fill(t, folder.path)
    copyFileSync(join(folder.path, 'secret'), join(folder.path, 'secret.previous'))
    assert.equal((await status(run)).previous_id, null)
    assert.equal((await status(run, 'rotate')).needs_previous.keys, 2)
  })

  it('gives up unused keys if it is forced to', async (t) => {
    await using folder = await temporaryFolder()
    const run = commandAt(folder.path)
    const { apiKey } = await fill(t, folder.path)
    await status(run, 'rotate')
    assert.equal((await run('secret', 'retire'))[0], 1)
    assert.deepEqual((await status(run, 'retire', '--force')).lost, { keys: 2, encrypted_values: 0 })
    await using server = await restart(folder.path)
    assert.equal((await server.send(apiKey)).status, 401)
  })

  it('explains how a configured secret is rotated', async () => {
    await using folder = await temporaryFolder()
    const run = commandAt(folder.path, { GATEHOUSE_SECRET: 'a configured server secret' })
    await run('setup')
    const [code, output] = await run('secret', 'rotate')
    assert.match(output, /set GATEHOUSE_SECRET to the new one and GATEHOUSE_SECRET_PREVIOUS to the current one/)
    assert.equal(code, 1)
  })
})

describe('rotating the secret of several nodes on one PostgreSQL', { skip: withoutPostgres }, () => {
  it('keeps every node working with what the others write, in the order of the guide', async (t) => {
    await using database = await createScratchDatabase()
    const receiver = await startReceiver(t, () => ({ status: 200 }))
    const storage = { database_url: database.url }
    const [old, next] = ['the secret before the rotation', 'the secret behind the rotation']
    const node = (config: Readonly<Record<string, unknown>>, isFirst = false) =>
      startExportScene({
        config: { exports: { allow_addresses: ['127.0.0.0/8'] }, ...config },
        storage,
        ...(!isFirst && { isFirst }),
      })
    await using first = await node({ secret: old, secret_next: next }, true)
    await revokeApplicationKey(first)
    const oldSink = await first.createSink(sinkAt(receiver.origin))
    await using second = await node({ secret: next, secret_previous: old })
    const { value: newKey } = await operatorOf(second.app).createKey({ name: 'made on the second node' })
    const { value: unused } = await operatorOf(first.app).createKey({ name: 'made on the first node' })
    const send = (scene: typeof first, key: string) =>
      scene.post('/v1/messages', message, { authorization: `Bearer ${key}` }).then((answer) => answer.status)
    const test = (scene: typeof first, sink: unknown) =>
      scene
        .gateway('POST', `/exports/${String(sink)}/test`, { key: first.apiKey })
        .then(({ body }) => Object(body['test']).success)

    assert.deepEqual([await send(first, newKey), await send(second, first.apiKey)], [200, 200])
    assert.deepEqual([await test(second, oldSink['id']), await test(first, oldSink['id'])], [true, true])
    const rotated = await operatorOf(second.app).rotateSecret()
    assert.equal(rotated.needs_previous.encrypted_values + rotated.needs_previous.audit_logs, 0)
    assert.equal(await test(first, oldSink['id']), true, 'a node that still has the old secret reads it')
    assert.equal((await operatorOf(first.app).verifyAuditLog()).checkpoint_finding, undefined)

    await using third = await node({ secret: next, secret_previous: old })
    assert.deepEqual(
      [await send(third, first.apiKey), await send(third, newKey), await send(third, unused)],
      [200, 200, 200],
    )
    const administer = (key: string) =>
      fetch(`${third.url}/v1/organization/projects`, { headers: { authorization: `Bearer ${key}` } })
    assert.equal((await administer(first.adminKey)).status, 200)
    // The first node still has the old secret, and may sign a checkpoint with it at any time.
    while (Object.values((await operatorOf(third.app).rotateSecret()).needs_previous).some((count) => count > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await assert.rejects(operatorOf(third.app).retireSecret(), /Remove GATEHOUSE_SECRET_PREVIOUS from every node/)
    await using last = await node({ secret: next })
    assert.deepEqual(
      [await send(last, first.apiKey), await send(last, unused), await test(last, oldSink['id'])],
      [200, 200, true],
    )
    const {
      finding,
      checkpoint_finding: checkpointFinding,
      key_findings: keyFindings,
    } = await operatorOf(last.app).verifyAuditLog()
    const used = keyFindings.filter(({ from }) => from !== undefined)
    assert.deepEqual([finding, checkpointFinding, used], [undefined, undefined, []])
  })
})

/** A folder with keys, a sink with a secret, a stored reply, and an audit log with texts. */
const bearerOf = (key: string) => ({ authorization: `Bearer ${key}` })

async function fill(t: TestContext, dataDir: string) {
  const receiver = await startReceiver(t, () => ({ status: 200 }))
  await using scene = await startExportScene({
    storage: { data_dir: dataDir },
    config: { audit: { content: 'full' }, exports: { allow_addresses: ['127.0.0.0/8'] } },
  })
  const { apiKey, adminKey } = scene
  await revokeApplicationKey(scene)
  const { id: sinkId } = await scene.createSink(sinkAt(receiver.origin))
  const createProject = (url: string) =>
    fetch(`${url}/v1/organization/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', 'idempotency-key': 'once' },
      body: JSON.stringify({ name: 'Once' }),
    })
  const project: unknown = await (await createProject(scene.url)).json()
  const policies = '/v1/organization/policies'
  const policy = (await (await scene.post(policies, { name: 'P', rule: 'Say "no"' }, bearerOf(adminKey))).json()) as {
    id: string
  }
  const cases = `${policies}/${policy.id}/cases`
  const secretCase = { says: 'one', given: { text: 'a text of a case' }, expect: 'no_match' }
  assert.equal((await scene.post(cases, secretCase, bearerOf(adminKey))).status, 201)
  const gatewayCase = { says: 'two', given: { text: 'a text of the gateway' }, expect: 'allow' }
  assert.equal((await scene.post(gatewayCases, gatewayCase, bearerOf(adminKey))).status, 201)
  assert.equal((await scene.post('/v1/messages', message)).status, 200)
  return { cases, apiKey, adminKey, sinkId: String(sinkId), createProject, project }
}

const gatewayCases = '/api/policy-gateway/config/cases'

/** Leaves only the keys that these tests use: a key moves to the next secret at its next use. */
async function revokeApplicationKey({ app, get, adminKey }: Awaited<ReturnType<typeof startExportScene>>) {
  const listed = await get('/v1/organization/api_keys', { authorization: `Bearer ${adminKey}` })
  const { data } = (await listed.json()) as { data: { id: string; name: string }[] }
  await operatorOf(app).revokeKey(data.find(({ name }) => name === 'First application key')?.id ?? '')
}

async function restart(dataDir: string) {
  const server = await startTestApp({
    storage: { data_dir: dataDir },
    config: { exports: { allow_addresses: ['127.0.0.0/8'] } },
    isFirst: false,
  })
  return {
    ...server,
    send: (key: string) => server.post('/v1/messages', message, bearerOf(key)),
    administer: (key: string) => server.get('/v1/organization/projects', bearerOf(key)),
    casesOf: async ({ cases, adminKey }: { cases: string; adminKey: string }) =>
      (await server.get(cases, bearerOf(adminKey))).text(),
    async testSink({ sinkId, apiKey }: { sinkId: string; apiKey: string }): Promise<unknown> {
      const answer = await server.post(`/api/policy-gateway/exports/${sinkId}/test`, {}, bearerOf(apiKey))
      const body = Object(await answer.json())
      return Object(body.test).success
    },
  }
}

function commandAt(dataDir: string, env: Readonly<Record<string, string>> = {}) {
  return async (...args: string[]): Promise<[code: number, written: string]> => {
    const written: string[] = []
    const code = await runCommandLine(args, {
      env: { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_CONFIG: '/dev/null', GATEHOUSE_PORT: '1', ...env },
      print: (line) => written.push(line),
      printError: (line) => written.push(line),
      confirm: async () => false,
    })
    return [code, written.join('\n')]
  }
}

async function status(
  run: ReturnType<typeof commandAt>,
  verb = 'status',
  ...rest: string[]
): Promise<SecretStatusBody> {
  const [code, written] = await run('secret', verb, '--json', ...rest)
  assert.equal(code, 0, written)
  return JSON.parse(written)
}
