import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startAdminApp, type AdminApp } from '../support/administration.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = process.env['PEER_SCHEMATHESIS']

/** Every check runs, within three minutes. */
const options = [
  '--checks',
  'all',
  '--phases',
  'examples,coverage,fuzzing',
  '--max-examples',
  '10',
  '--max-time',
  '180',
]

/**
 * A request that fits the schema may name an object that does not exist, a rule that cannot be read, or a start after its
 * end. No schema can express that, so 400 and 422 are accepted for it. Without credits the status is 402, and 413 and 503 are
 * answers to a large body and to a busy service.
 */
const expectedStatuses = ['2xx', 400, 401, 402, 403, 404, 409, 413, 422, 429, 503]

const settings = ({ apiKey, adminKey }: AdminApp): string => `
request-timeout = 60
[auth.openapi.apiKey]
bearer = ${JSON.stringify(apiKey)}
[auth.openapi.apiKeyHeader]
api_key = ${JSON.stringify(apiKey)}
[auth.openapi.adminKey]
bearer = ${JSON.stringify(adminKey)}
[checks.positive_data_acceptance]
expected-statuses = ${JSON.stringify(expectedStatuses)}
`

describe('the API against Schemathesis', { skip: program === undefined ? 'no Schemathesis' : false }, () => {
  it('answers every generated request as its OpenAPI description says', async () => {
    await using app = await startAdminApp()
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'schemathesis.toml')
    writeFileSync(file, settings(app))
    const args = ['--config-file', file, '--no-color', 'run', `${app.url}/openapi.json`, ...options]
    const child = spawn(program ?? '', args, { cwd: folder.path, stdio: ['ignore', 'pipe', 'inherit'] })
    const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.equal(code, 0, report)
  })
})
