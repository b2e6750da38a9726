import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { datadogLogs } from '../../src/adapters/sinks/datadog-logs.ts'
import { otlpLogs } from '../../src/adapters/sinks/otlp-logs.ts'
import { splunkHec } from '../../src/adapters/sinks/splunk-hec.ts'
import { systemClock } from '../../src/base/clock.ts'
import { startTestApp } from '../support/app.ts'
import { auditDocuments } from '../support/audit-documents.ts'
import { spanNamed, spansIn, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { sinkParts, tally } from '../support/sink-parts.ts'

const [hec, otlp, datadog, tracesFile = ''] = (process.env['PEER_COLLECTOR_URLS'] ?? '').split(' ')
const signal = AbortSignal.timeout(120_000)
const skip = hec ? false : 'no OpenTelemetry Collector'

describe('splunk_hec against OpenTelemetry’s collector', { skip }, () => {
  const token = '11111111-2222-3333-4444-555555555555'

  for (const compression of ['gzip', 'none']) {
    it(`accepts a batch with compression ${compression}`, async (t) => {
      const sink = splunkHec.open({ url: hec, token, compression }, sinkParts(t, { clock: systemClock }))
      assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 200 }), signal)), { delivered: 200 })
    })
  }

  it('waits for the acknowledgements of several requests', async (t) => {
    const sink = splunkHec.open({ url: hec, token, use_ack: true }, sinkParts(t, { clock: systemClock }))
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 60, promptLength: 50_000 }), signal)), {
      delivered: 60,
    })
  })
})

describe('datadog_logs against OpenTelemetry’s collector', { skip }, () => {
  it('accepts a batch, whole and in several requests', async (t) => {
    const routes = { 'http-intake.logs.datadoghq.com': datadog ?? '' }
    const config = { site: 'datadoghq.com', api_key: '0'.repeat(32) }
    const sink = datadogLogs.open(config, sinkParts(t, { clock: systemClock, routes }))
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1_200 }), signal)), { delivered: 1_200 })
  })
})

describe('otlp_logs against OpenTelemetry’s collector', { skip }, () => {
  it('accepts a batch', async (t) => {
    const sink = otlpLogs.open({ url: otlp }, sinkParts(t, { clock: systemClock }))
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 200 }), signal)), { delivered: 200 })
  })
})

describe('traces against OpenTelemetry’s collector', { skip }, () => {
  for (const compression of ['gzip', 'none'])
    it(`arrive with every span, with compression ${compression}`, async () => {
      const model = 'gatehouse-echo'
      const service = `gatehouse-${compression}`
      {
        const traces = { endpoint: otlp, compression, service_name: service }
        await using app = await startTestApp({ config: { traces } })
        const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
        assert.equal((await app.post('/v1/chat/completions', body)).status, 200)
      }
      const spans = await spansOf(service)
      const whole = spanNamed(spans, 'POST /v1/chat/completions')
      assert.deepEqual(
        spans.filter(({ parentSpanId }) => parentSpanId === whole.spanId).map(({ name }) => name),
        ['gatehouse.admit', 'gatehouse.check request', `chat ${model}`, 'gatehouse.check response'],
      )
      assert.equal(spanNamed(spans, `chat ${model}`).attributes['gen_ai.request.model'], model)
    })
})

/** The spans of a service that the collector wrote, one export per line. */
async function spansOf(service: string): Promise<ReceivedSpan[]> {
  for (;;) {
    signal.throwIfAborted()
    const lines = readFileSync(tracesFile, 'utf8').split('\n').slice(0, -1)
    const own = lines.filter((line) => line.includes(`"${service}"`))
    if (own.length > 0) return own.flatMap((text) => spansIn({ text }))
    await setTimeout(100)
  }
}
