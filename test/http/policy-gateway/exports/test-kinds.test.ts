import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sinkKinds } from '../../../../src/adapters/sinks/registry.ts'
import type { Json } from '../../../support/administration.ts'
import { startExportScene } from '../../../support/export-scene.ts'
import { rerouted, startReceiver, type Received, type Reply } from '../../../support/receiver.ts'

const uuid = '11111111-2222-3333-4444-555555555555'
const azureHost = 'x.westeurope-1.ingest.monitor.azure.com'
const loginHost = 'login.microsoftonline.com'
const datadogHost = 'http-intake.logs.datadoghq.com'

type Kind = {
  readonly config: (origin: string) => Json
  /** The response of the destination to an accepted event. */
  readonly takes: (received: Received) => Reply
  /** Its response to an invalid credential, if that is not a plain 401. */
  readonly refuses?: (received: Received) => Reply
  /** The path that receives the event. */
  readonly target: RegExp
}

const tokenOr =
  (reply: Reply) =>
  ({ target }: Received): Reply =>
    target.endsWith('/oauth2/v2.0/token') ? { status: 200, body: { access_token: 't', expires_in: 3600 } } : reply

const kinds: Readonly<Record<string, Kind>> = {
  splunk_hec: {
    config: (url) => ({ url, token: 'token' }),
    takes: () => ({ status: 200, body: { text: 'Success', code: 0 } }),
    refuses: () => ({ status: 403, body: { text: 'Invalid token', code: 4 } }),
    target: /^\/services\/collector\/event$/,
  },
  datadog_logs: {
    config: () => ({ site: 'datadoghq.com', api_key: 'key' }),
    takes: () => ({ status: 202, body: {} }),
    refuses: () => ({ status: 403 }),
    target: /^\/api\/v2\/logs$/,
  },
  elastic: {
    config: (url) => ({ url, auth: { type: 'api_key', api_key: 'id:key' } }),
    takes: () => ({ status: 200, body: { errors: false, items: [{ create: { status: 201 } }] } }),
    target: /\/_bulk\?/,
  },
  s3: {
    config: (endpoint) => ({
      bucket: 'audit',
      region: 'eu-central-1',
      endpoint,
      auth: { type: 'access_key', access_key_id: 'AKIA', secret_access_key: 'secret' },
    }),
    takes: () => ({ status: 200 }),
    refuses: () => ({ status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' }),
    target: /^\/audit\//,
  },
  azure_monitor: {
    config: () => ({
      endpoint: `https://${azureHost}`,
      dcr_immutable_id: `dcr-${'0'.repeat(32)}`,
      stream_name: 'Custom-Audit',
      tenant_id: uuid,
      client_id: uuid,
      client_secret: 'secret',
    }),
    takes: tokenOr({ status: 204 }),
    refuses: () => ({ status: 401, body: { error: 'invalid_client' } }),
    target: /^\/dataCollectionRules\/.*\/streams\/Custom-Audit\?api-version=/,
  },
  webhook: {
    config: (url) => ({ url, secret: 'a-secret-of-the-webhook-0123' }),
    takes: () => ({ status: 204 }),
    target: /^\/$/,
  },
  otlp_logs: {
    config: (url) => ({ url, auth: { header: 'authorization', value: 'Bearer token' } }),
    takes: () => ({ status: 200, body: {} }),
    target: /\/v1\/logs$/,
  },
}

describe('a test of an export sink', () => {
  it('exists for every kind', () => {
    assert.deepEqual(Object.keys(kinds).toSorted(), sinkKinds.map(({ type }) => type).toSorted())
  })

  for (const [type, kind] of Object.entries(kinds)) {
    it(`of the kind ${type} is delivered, or reports that the credential is not accepted`, async (t) => {
      let answer = kind.takes
      const receiver = await startReceiver(t, (received) => answer(received))
      const routes = Object.fromEntries([azureHost, loginHost, datadogHost].map((host) => [host, receiver.origin]))
      await using scene = await startExportScene({ network: (request) => rerouted(request, routes) })
      const { id } = await scene.createSink(
        { ...kind.config(receiver.origin), filter: { event_types: ['gateway'] } },
        type,
      )
      const test = async (): Promise<Json> =>
        (await scene.gateway('POST', `/exports/${String(id)}/test`)).body['test'] as Json
      const taken = await test()
      assert.deepEqual([taken['success'], taken['outcome']], [true, 'delivered'], String(taken['message']))
      const sent = receiver.requests.find(({ target }) => kind.target.test(target)) ?? assert.fail('nothing arrived')
      assert.ok(sent.text.includes(String(taken['event_id'])))
      answer = kind.refuses ?? (() => ({ status: 401 }))
      const rejected = await test()
      assert.deepEqual([rejected['success'], rejected['outcome']], [false, 'pause'], String(rejected['message']))
      assert.match(String(rejected['message']), /40[13]/)
    })
  }
})
