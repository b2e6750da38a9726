import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startOtlpReceiver } from '../../../test/support/otlp-receiver.ts'
import { checkConfig, readConfig } from '../../config/config.ts'
import { checkTraces } from './traces.ts'

const check = async (traces: object, isOffline = false) => checkTraces(checkConfig({ traces }), { isOffline })

describe('the doctor on traces', () => {
  it('sends an empty export with the configured headers', async (t) => {
    const collector = await startOtlpReceiver(t)
    const [found] = await check({ endpoint: collector.origin, headers: { authorization: 'Bearer t' } })
    assert.deepEqual([found?.state, found?.message], ['ok', `the collector at ${collector.origin}/v1/traces`])
    const [received] = collector.requests
    assert.deepEqual(
      [received?.target, received?.headers.authorization, received?.text],
      ['/v1/traces', 'Bearer t', '{"resourceSpans":[]}'],
    )
  })

  it('names a collector that cannot be reached', async () => {
    const [found] = await check({ endpoint: 'http://127.0.0.1:1' })
    assert.equal(found?.state, 'warning')
    assert.match(found.message, /http:\/\/127\.0\.0\.1:1\/v1\/traces cannot be reached/)
  })

  it('names the status of a collector that rejects the export', async (t) => {
    const { origin } = await startOtlpReceiver(t, () => ({ status: 401 }))
    const [found] = await check({ endpoint: origin })
    assert.deepEqual([found?.state, found?.message.includes('status 401')], ['warning', true])
  })

  it('calls the address of the variable for traces as it is, and appends the path to that for all signals', async () => {
    const messageFor = async (env: Record<string, string>) =>
      (await checkTraces(readConfig({ GATEHOUSE_CONFIG: '', ...env }), { isOffline: true })).map(
        ({ message }) => message,
      )
    assert.deepEqual(await messageFor({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/ingest' }), [
      'the collector at http://c:4318/ingest was not called',
    ])
    assert.deepEqual(await messageFor({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/ingest' }), [
      'the collector at http://c:4318/ingest/v1/traces was not called',
    ])
  })

  it('names a variable that is ignored', async () => {
    const config = readConfig({ GATEHOUSE_CONFIG: '', OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })
    const [found] = await checkTraces(config, { isOffline: true })
    assert.equal(found?.state, 'warning')
    assert.match(found.message, /^OTEL_EXPORTER_OTLP_ENDPOINT is ignored: traces\.endpoint must/)
  })

  it('calls nothing if it is offline, and says nothing without a collector', async () => {
    assert.equal((await check({ endpoint: 'http://127.0.0.1:1' }, true))[0]?.state, 'ok')
    assert.deepEqual(await check({}), [])
  })
})
