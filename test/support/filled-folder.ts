import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { adminOf } from './administration.ts'
import { createOneOfEach } from './administration-routes.ts'
import { answerWith, question, startPaidApp } from './paid-app.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A data folder that a stopped server has filled through its API. */
export type FilledFolder = AsyncDisposable & {
  readonly dataDir: string
  readonly file: string
  readonly apiKey: string
  readonly adminKey: string
  readonly responseId: string
  readonly secret: string
  /** Changes the database of the stopped server. */
  change(sql: string, ...params: readonly (string | number)[]): void
  /** A copy for one test. */
  copy(): Promise<FilledFolder>
}

const audit = { content: 'full' }
const exports = { allow_addresses: ['127.0.0.0/8'] }

/** The model of the folder's requests, for a server that continues with its data. */
export const filledConfig = (upstreamUrl: string) => ({
  audit,
  exports,
  upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstreamUrl}/v1` }],
  models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
})

/** Requests with texts, a stored response, and one resource of each kind. */
export async function fillFolder(): Promise<FilledFolder> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const created = await fill(join(folder.path, 'data'))
  opened.move()
  return folderOf(folder, created)
}

type Created = Awaited<ReturnType<typeof fill>>

function folderOf(folder: Awaited<ReturnType<typeof temporaryFolder>>, created: Created): FilledFolder {
  const dataDir = join(folder.path, 'data')
  const file = join(dataDir, 'gatehouse.db')
  return {
    ...created,
    dataDir,
    file,
    secret: readFileSync(join(dataDir, 'secret'), 'utf8').trim(),
    change(sql, ...params) {
      using database = new DatabaseSync(file)
      database.prepare(sql).run(...params)
    },
    async copy() {
      const other = await temporaryFolder()
      cpSync(dataDir, join(other.path, 'data'), { recursive: true })
      return folderOf(other, created)
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

async function fill(dataDir: string) {
  await using scene = await startPaidApp({ storage: { data_dir: dataDir }, config: { audit, exports } })
  const { app, upstream } = scene
  upstream.answer(answerWith('Tab\there,\nline “two”, C:\\new', { input: 12, output: 3 }))
  const admin = adminOf(app.url, app.adminKey)
  await createOneOfEach(admin)
  const sink = await app.post(
    '/api/policy-gateway/exports',
    {
      type: 'otlp_logs',
      label: 'Archive',
      enabled: false,
      config: { url: 'http://127.0.0.1:9', auth: { header: 'authorization', value: 'a secret of the sink' } },
    },
    { authorization: `Bearer ${app.adminKey}` },
  )
  assert.equal(sink.status, 201, await sink.text())
  for (let count = 0; count < 5; count++) await (await app.post('/v1/messages', question)).text()
  const response = await app.post('/v1/responses', { model: 'paid', input: 'Remember \\N and 🙂' })
  const { id } = (await response.json()) as { id: string }
  return { apiKey: app.apiKey, adminKey: app.adminKey, responseId: id }
}
