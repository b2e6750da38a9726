import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { textOf, type Json } from '../support/administration.ts'
import { startExportScene } from '../support/export-scene.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const uuid = '11111111-2222-3333-4444-555555555555'

/** A planted secret in every secret field of each kind of sink. */
const secrets = {
  splunk: 'planted-splunk-token-0123456789abcdef',
  datadog: 'planted-datadog-key-0123456789abcdef',
  elasticKey: 'planted-elastic-key-0123456789abcdef',
  elasticPassword: 'planted-elastic-password-0123456789',
  s3: 'planted-s3-secret-0123456789abcdef',
  s3Session: 'planted-s3-session-0123456789abcdef',
  azure: 'planted-azure-secret-0123456789abcdef',
  webhook: 'planted-webhook-secret-0123456789abcdef',
  otlp: 'Bearer planted-otlp-token-0123456789abcdef',
}

const sinksAt = (origin: string): [type: string, config: Json][] => [
  ['splunk_hec', { url: origin, token: secrets.splunk }],
  ['datadog_logs', { site: 'datadoghq.com', api_key: secrets.datadog }],
  ['elastic', { url: origin, auth: { type: 'api_key', api_key: secrets.elasticKey } }],
  ['elastic', { url: origin, auth: { type: 'basic', username: 'u', password: secrets.elasticPassword } }],
  [
    's3',
    {
      bucket: 'audit',
      region: 'eu-central-1',
      endpoint: origin,
      auth: {
        type: 'access_key',
        access_key_id: 'AKIA',
        secret_access_key: secrets.s3,
        session_token: secrets.s3Session,
      },
    },
  ],
  [
    'azure_monitor',
    {
      endpoint: 'https://x.westeurope-1.ingest.monitor.azure.com',
      dcr_immutable_id: `dcr-${'0'.repeat(32)}`,
      stream_name: 'Custom-Audit',
      tenant_id: uuid,
      client_id: uuid,
      client_secret: secrets.azure,
    },
  ],
  ['webhook', { url: origin, secret: secrets.webhook }],
  ['otlp_logs', { url: origin, auth: { header: 'authorization', value: secrets.otlp } }],
]

it('no secret of a sink appears in the database, a log, a metric or a response, even if the destination echoes it', async (t) => {
  await using folder = await temporaryFolder()
  const lines: string[] = []
  const answers: string[] = []
  // The worst case: a destination that rejects the request and echoes all of it.
  const receiver = await startReceiver(t, ({ headers, text }) => ({
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: { text: JSON.stringify(headers), error: text, message: Object.values(secrets).join(' ') },
  }))
  {
    await using scene = await startExportScene({
      log: createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
      config: { storage: { data_dir: folder.path }, exports: { allow_addresses: ['127.0.0.0/8'] } },
    })
    const send = async (call: string, body?: unknown, key = 'once'): Promise<Json> => {
      const [method = '', path = ''] = call.split(' ')
      const headers = { 'idempotency-key': `${method}${path}${key}`.replaceAll(/[^!-~]/g, '') }
      const answer = await scene.gateway(method, path, { ...(body !== undefined && { body }), headers })
      answers.push(JSON.stringify([...answer.headers]), JSON.stringify(answer.body))
      return answer.body
    }
    for (const [at, [type, config]] of sinksAt(receiver.origin).entries()) {
      const made = await send('POST /exports', { type, config }, String(at))
      const id = textOf(made['export'] as Json)
      await send(`POST /exports/${id}/test`)
      await send(`PATCH /exports/${id}`, { label: 'Again', config: (made['export'] as Json)['config'] })
      await send(`GET /exports/${id}`)
    }
    await send('POST /exports', { type: 'splunk_hec', config: { url: 'no address', token: secrets.splunk } }, 'wrong')
    await send('GET /exports?limit=100')
    const kind = 'kind=export_sink.created&limit=100'
    answers.push(
      JSON.stringify(await scene.admin.get(`/audit_logs?${kind}`)),
      JSON.stringify(await scene.admin.get('/audit_logs?limit=100')),
    )
    for (const path of ['/metrics', '/openapi.json']) answers.push(await (await scene.get(path)).text())
  }
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
  const dump = Buffer.concat(files).toString('latin1')
  assert.ok(dump.includes('splunk_hec') && lines.length > 0 && receiver.requests.length > 0)
  for (const [name, secret] of Object.entries(secrets)) {
    for (const encoded of [
      secret,
      Buffer.from(secret).toString('base64').slice(0, -4),
      Buffer.from(secret).toString('hex'),
    ]) {
      assert.ok(!dump.includes(encoded), `${name} is in the data folder`)
      assert.ok(!lines.some((line) => line.includes(encoded)), `${name} is in the log`)
      assert.ok(!answers.some((answer) => answer.includes(encoded)), `${name} is in an answer`)
    }
  }
})
