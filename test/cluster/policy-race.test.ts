import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminOf, itemsOf, startAdminApp, textOf, type Admin } from '../support/administration.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startProgram } from '../support/program.ts'

type Outcome = { status: number; code?: string; replayed: boolean; revision?: number }
type Scene = AsyncDisposable & { readonly admin: Admin; readonly urls: readonly string[] }

const parallel = 50
const processes = 3
const generous = { requests_per_minute: 100_000, concurrent_requests: 1_000 }
const administration = { credential: generous, organization: generous }

describe('many changes against one revision, on SQLite from several processes', () => raceSuite(startEmbedded))

describe('many changes against one revision, on three nodes with PostgreSQL', { skip: withoutPostgres }, () =>
  raceSuite(startNodes),
)

function raceSuite(start: () => Promise<Scene>): void {
  it('one succeeds, the others get a conflict, and there is one audit row', async () => {
    await using scene = await start()
    const id = textOf(await scene.admin.post('/policies', { name: 'Raced once', rule: 'r' }))
    const outcomes = await race(scene, { path: `/policies/${id}`, headers: {} })
    assert.equal(outcomes.length, parallel)
    assert.equal(outcomes.filter(({ status }) => status === 200).length, 1)
    for (const { status, code } of outcomes)
      assert.ok(status === 200 || (status === 409 && code === 'revision_conflict'))
    await assertChangedOnce(scene.admin, id)
  })

  it('with one Idempotency-Key there is one change, and every other request gets its reply or a retry', async () => {
    await using scene = await start()
    const id = textOf(await scene.admin.post('/policies', { name: 'Raced twice', rule: 'r' }))
    const outcomes = await race(scene, { path: `/policies/${id}`, headers: { 'idempotency-key': 'the-same' } })
    assert.equal(outcomes.length, parallel)
    assert.equal(outcomes.filter(({ status, replayed }) => status === 200 && !replayed).length, 1)
    for (const { status, code, revision } of outcomes) {
      if (status === 200) assert.equal(revision, 2)
      else assert.deepEqual([status, code], [409, 'idempotency_in_progress'])
    }
    await assertChangedOnce(scene.admin, id)
  })
}

async function assertChangedOnce(admin: Admin, id: string): Promise<void> {
  assert.equal((await admin.get(`/policies/${id}`))['revision'], 2)
  const entries = itemsOf(await admin.get(`/audit_logs?policy_id=${id}&kind=policy.updated`))
  assert.deepEqual(
    entries.map(({ old_revision: from, new_revision: to }) => [from, to]),
    [[1, 2]],
  )
}

/** Sends the requests from three processes, each to its own node if there are several. */
async function race({ admin, urls }: Scene, request: { path: string; headers: object }): Promise<Outcome[]> {
  const shares = [17, 17, 16]
  const outcomes = shares.map(async (times, at) => {
    const order = { ...request, times, method: 'PATCH', body: { revision: 1, name: 'Changed' } }
    const url = urls[at % urls.length] ?? ''
    await using client = startProgram(new URL('programs/send-requests.ts', import.meta.url), [
      url,
      admin.key,
      JSON.stringify(order),
    ])
    return JSON.parse(await firstLine(client.lines)) as Outcome[]
  })
  return (await Promise.all(outcomes)).flat()
}

/** The embedded database has one server process; only the clients are many. */
async function startEmbedded(): Promise<Scene> {
  const app = await startAdminApp({ config: { administration } })
  return { admin: app.admin, urls: [app.url], [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

async function startNodes(): Promise<Scene> {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createScratchDatabase())
  const shared = { storage: { database_url: database.url }, secret: 'the same secret on every node', administration }
  const first = opened.use(await startAdminApp({ config: shared }))
  const config = JSON.stringify({ ...shared, server: { port: 0 } })
  const nodes = Array.from({ length: processes - 1 }, () =>
    opened.use(startProgram(new URL('programs/node.ts', import.meta.url), [config])),
  )
  const urls = [first.url, ...(await Promise.all(nodes.map(({ lines }) => firstLine(lines))))]
  const kept = opened.move()
  return { admin: adminOf(first.url, first.adminKey), urls, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function firstLine(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) return line
  throw new Error('the program ended without a word')
}
