import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type Addresses, type App, type World } from '../../src/app.ts'
import { readServerSecrets } from '../../src/app/storage/server-secrets.ts'
import { createLog } from '../../src/base/log.ts'
import { systemRandom } from '../../src/base/random.ts'
import { checkConfig } from '../../src/config/config.ts'
import { copyMigratedSqlite } from './migrated-database.ts'
import { operatorOf } from './operator.ts'

/** A complete Gatehouse with its own data folder and a free port, set up for tests. Disposing stops it and removes the folder. */
export type TestApp = AsyncDisposable & {
  readonly app: App
  readonly url: string
  readonly dataDir: string
  readonly addresses: Addresses
  readonly adminKey: string
  readonly apiKey: string
  readonly organizationId: string
  readonly projectId: string
  /** Sends JSON with the API key, unless `headers` override it. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
}

export type TestAppOptions = World & {
  /** Environment variables, in addition to the data folder. */
  readonly storage?: Readonly<Record<string, unknown>>
  /** As in `gatehouse.yaml`; server, storage, limits, moderation and log have test defaults. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** False for a further node on a database that is already set up; it then has no keys of its own. */
  readonly isFirst?: boolean
}

/** Higher limits than an organization has by default; tests about limits set their own. */
const unlimited = {
  tiers: { free: { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } } },
}

const nothing = { admin_key: '', api_key: '', organization_id: '', project_id: '' }

export async function startTestApp({
  config = {},
  env = {},
  storage = {},
  isFirst = true,
  ...world
}: TestAppOptions = {}): Promise<TestApp> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  const settings = {
    // Long timeout, because PostgreSQL may be slow on a busy machine; tests about hanging servers set their own.
    storage: { data_dir: folder, database_timeout_ms: 10_000, ...storage },
    limits: unlimited,
    ...config,
    // The encoder loads a model, and its worker thread costs every test memory.
    moderation: { encoder: 'off', ...(config['moderation'] as object) },
    server: { port: 0, ...(config['server'] as object) },
  }
  const checked = checkConfig(settings)
  if (checked.storage.data_dir === folder && checked.storage.database_url === undefined) {
    readServerSecrets(checked, world.random ?? systemRandom) // created before the database, or the app rejects the folder
    await copyMigratedSqlite(folder)
  }
  const app = await createApp(checked, env, { log: createLog({ level: 'silent' }), ...world })
  const addresses = await app.listen()
  const url = addresses.api
  const made = isFirst ? await operatorOf(app).setUp('Test organization') : nothing
  const authorization = `Bearer ${made.api_key}`
  return {
    app,
    url,
    dataDir: folder,
    addresses,
    adminKey: made.admin_key,
    apiKey: made.api_key,
    organizationId: made.organization_id,
    projectId: made.project_id,
    post: (path, body, headers = { authorization }) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = { authorization }) => fetch(url + path, { headers }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
