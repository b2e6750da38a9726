import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditDocuments } from '../../../test/support/audit-documents.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { jumpingClock, tally } from '../../../test/support/sink-parts.ts'
import { createAddressGuard } from '../network/address-guard.ts'
import { masked } from './fields.ts'
import { patternInWords } from './patterns.ts'
import { choiceOf, findSinkKind, openSink, sinkKinds } from './registry.ts'

const kindOf = (type: string) => findSinkKind(type) ?? assert.fail(type)

const uuid = '11111111-2222-3333-4444-555555555555'
const good: Record<string, Record<string, unknown>> = {
  splunk_hec: { url: 'https://splunk.test:8088', token: 't' },
  datadog_logs: { site: 'datadoghq.com', api_key: 'k' },
  elastic: { url: 'https://es.test:9200/base', auth: { type: 'api_key', api_key: 'id:key' } },
  s3: {
    bucket: 'audit',
    region: 'eu-central-1',
    auth: { type: 'access_key', access_key_id: 'A', secret_access_key: 's' },
  },
  azure_monitor: {
    endpoint: 'https://x.westeurope-1.ingest.monitor.azure.com',
    dcr_immutable_id: `dcr-${'0'.repeat(32)}`,
    stream_name: 'Custom-Audit',
    tenant_id: uuid,
    client_id: uuid,
    client_secret: 's',
  },
  webhook: { url: 'https://hooks.test/in', secret: 'x'.repeat(24) },
  otlp_logs: { url: 'https://otel.test:4318' },
}

type Fields = {
  readonly description?: string
  readonly pattern?: string
  readonly items?: Fields
  readonly anyOf?: readonly Fields[]
  readonly properties?: Readonly<Record<string, Fields>>
}

/** Dotted paths of the fields whose description says that they are masked. */
const maskedIn = ({ anyOf = [], properties = {} }: Fields): string[] => [
  ...anyOf.flatMap(maskedIn),
  ...Object.entries(properties).flatMap(([name, field]) => [
    ...(field.description?.endsWith(masked) ? [name] : []),
    ...maskedIn(field).map((inner) => `${name}.${inner}`),
  ]),
]

const parts = {
  guard: createAddressGuard({}),
  clock: jumpingClock(),
  random: { bytes: (count: number) => new Uint8Array(count), fraction: () => 0 },
  instance: 'gateway-1',
}

describe('every kind of sink', () => {
  for (const kind of sinkKinds) {
    const config = good[kind.type] ?? {}

    it(`${kind.type}: accepts its minimal configuration and the common fields`, () => {
      const common = { content: 'redacted', filter: { event_types: ['policy'], decisions: ['refuse'] } }
      assert.deepEqual(kind.problemsOf({ ...config, ...common }), [])
    })

    it(`${kind.type}: names an unknown field, and does not open with it`, () => {
      const misspelt = { ...config, tokn: 'x' }
      assert.deepEqual(kind.problemsOf(misspelt), [{ path: 'tokn', message: 'is not a field of this kind of sink' }])
      assert.throws(() => openSink(kind, misspelt, parts), TypeError)
    })

    it(`${kind.type}: names each missing field`, () => {
      const problems = kind.problemsOf({})
      assert.ok(problems.length > 0)
      assert.ok(problems.every(({ path, message }) => path !== '' && message !== ''))
    })

    it(`${kind.type}: says of its secret fields, and of no other, that answers mask them`, () => {
      assert.deepEqual(maskedIn(kind.schema).toSorted(), kind.secretFields.toSorted())
    })

    it(`${kind.type}: has its secret and destination fields in its schema`, () => {
      const text = JSON.stringify(kind.schema)
      for (const path of [...kind.secretFields, ...kind.destinationFields]) {
        assert.ok(text.includes(`"${path.split('.').at(-1)}"`), path)
      }
    })

    it(`${kind.type}: lists every address in its configuration, so that it is checked when the sink is created`, () => {
      const isAddress = ([, value]: [string, unknown]): boolean => /^https?:/.test(String(value))
      const fields = Object.entries(config).filter(isAddress)
      assert.deepEqual(
        kind.addressesIn(config).map(({ path, url }) => [path, url.href]),
        fields.map(([path, value]) => [path, new URL(String(value)).href]),
      )
    })
  }
})

describe('the address in a configuration', () => {
  it('of elastic is also found in a cloud id', () => {
    const cloudId = `name:${Buffer.from('0.0.1:9243$127$kibana').toString('base64')}`
    const [address] = kindOf('elastic').addressesIn({ cloud_id: cloudId })
    assert.deepEqual([address?.path, address?.url.href], ['cloud_id', 'https://127.0.0.1:9243/'])
  })

  it('of s3 is its endpoint; without one the address is fixed', () => {
    const [address] = kindOf('s3').addressesIn({ ...good.s3, endpoint: 'https://s3.test' })
    assert.deepEqual([address?.path, address?.url.href], ['endpoint', 'https://s3.test/'])
    assert.deepEqual(kindOf('s3').addressesIn({ ...good.s3 }), [])
  })

  it('is ignored if it cannot be read', () => {
    for (const url of ['no address', 7, null, undefined]) assert.deepEqual(kindOf('webhook').addressesIn({ url }), [])
    assert.deepEqual(kindOf('elastic').addressesIn({ cloud_id: 'x:y' }), [])
  })
})

describe('a configuration is rejected', () => {
  const table: [type: string, change: Record<string, unknown>, path: string][] = [
    ['splunk_hec', { url: 'splunk.test' }, 'url'],
    ['splunk_hec', { url: 'ftp://splunk.test' }, 'url'],
    ['splunk_hec', { url: 'https://splunk.test/path' }, 'url'],
    ['splunk_hec', { url: 'https://user:pw@splunk.test' }, 'url'],
    ['splunk_hec', { url: 'https://splunk.test/?q=1' }, 'url'],
    ['splunk_hec', { token: '' }, 'token'],
    ['splunk_hec', { token: 'a b' }, 'token'],
    ['splunk_hec', { index: 'Main' }, 'index'],
    ['splunk_hec', { tls_ca_pem: 'no certificate' }, 'tls_ca_pem'],
    ['splunk_hec', { content: 'everything' }, 'content'],
    ['splunk_hec', { filter: { decisions: ['allow', 'maybe'] } }, 'filter.decisions[1]'],
    ['datadog_logs', { site: 'evil.test' }, 'site'],
    ['datadog_logs', { tags: ['env:prod', 'nocolon'] }, 'tags[1]'],
    ['datadog_logs', { tags: ['a:b,c:d'] }, 'tags[0]'],
    ['elastic', { cloud_id: 'x:y' }, 'url'],
    ['elastic', { mode: 'index' }, 'index'],
    ['elastic', { auth: { type: 'oauth' } }, 'auth.type'],
    ['elastic', { auth: { type: 'basic', username: 'u' } }, 'auth.password'],
    ['elastic', { auth: { type: 'api_key', api_key: '' } }, 'auth.api_key'],
    ['elastic', { data_stream: { dataset: 'a-b' } }, 'data_stream.dataset'],
    ['s3', { bucket: 's3://audit' }, 'bucket'],
    ['s3', { bucket: '10.0.0.1' }, 'bucket'],
    ['s3', { region: 'nowhere' }, 'region'],
    ['s3', { prefix: '/logs' }, 'prefix'],
    ['s3', { prefix: 'a/../b' }, 'prefix'],
    ['s3', { kms_key_id: 'k' }, 'kms_key_id'],
    ['s3', { auth: { type: 'assume_role', role_arn: 'role', external_id: 'gh-1' } }, 'auth.role_arn'],
    ['azure_monitor', { endpoint: 'https://ingest.monitor.azure.com.evil.test' }, 'endpoint'],
    ['azure_monitor', { endpoint: 'https://x.ingest.monitor.azure.us' }, 'endpoint'],
    ['azure_monitor', { endpoint: 'http://x.ingest.monitor.azure.com' }, 'endpoint'],
    ['azure_monitor', { stream_name: 'Audit_CL' }, 'stream_name'],
    ['azure_monitor', { tenant_id: '../common' }, 'tenant_id'],
    ['azure_monitor', { shared_key: 'k' }, 'shared_key'],
    ['webhook', { secret: 'short' }, 'secret'],
    ['webhook', { secret: 'whsec_short' }, 'secret'],
    ['otlp_logs', { auth: { header: 'x y', value: 'v' } }, 'auth.header'],
    ['otlp_logs', { auth: { header: 'x', value: 'a\r\nb: c' } }, 'auth.value'],
  ]
  for (const [type, change, path] of table) {
    it(`${type} with ${JSON.stringify(change)}, naming ${path}`, () => {
      const problems = kindOf(type).problemsOf({ ...good[type], ...change })
      assert.equal(problems[0]?.path, path)
      assert.throws(() => openSink(kindOf(type), { ...good[type], ...change }, parts), TypeError)
    })
  }

  it('azure_monitor with fields of the retired API, with a hint', () => {
    const [problem] = kindOf('azure_monitor').problemsOf({ ...good.azure_monitor, workspace_id: 'w' })
    assert.match(problem?.message ?? '', /has ended: use a data collection rule/)
  })

  for (const config of [null, 'text', [], 7]) {
    it(`that is ${JSON.stringify(config)}, by every kind`, () => {
      for (const kind of sinkKinds) assert.ok(kind.problemsOf(config).length > 0)
    })
  }

  it('for an unknown AWS region, unless an endpoint is given', () => {
    const store = { ...good.s3, region: 'garage', endpoint: 'https://s3.test' }
    assert.deepEqual(kindOf('s3').problemsOf(store), [])
  })
})

describe('an opened sink', () => {
  const signal = new AbortController().signal

  it('cannot reach an address that its guard rejects, and reports only "not reached"', async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 200, body: { text: 'Success', code: 0 } }))
    const config = { ...good.splunk_hec, url: receiver.origin }
    await using closed = openSink(kindOf('splunk_hec'), config, parts)
    const outcomes = await closed.deliver(auditDocuments({ count: 2 }), signal)
    assert.deepEqual(tally(outcomes), { retry: 2 })
    assert.equal(outcomes[0]?.kind === 'retry' && outcomes[0].reason, 'The destination could not be reached.')
    assert.equal(receiver.requests.length, 0)
    const guard = createAddressGuard({ allowNetworks: ['127.0.0.0/8'] })
    await using allowed = openSink(kindOf('splunk_hec'), config, { ...parts, guard })
    assert.deepEqual(tally(await allowed.deliver(auditDocuments({ count: 2 }), signal)), { delivered: 2 })
  })

  it('returns the choice that the sender applies', () => {
    const filter = { decisions: ['refuse'] }
    assert.deepEqual(choiceOf({ ...good.s3, content: 'full', filter }), { content: 'full', filter })
    assert.deepEqual(choiceOf(good.s3), { content: undefined, filter: undefined })
  })
})

/** The patterns of all fields, at any depth. */
function patternsIn({ pattern, items, anyOf = [], properties = {} }: Fields): readonly string[] {
  const inner = [...anyOf, ...Object.values(properties), ...(items ? [items] : [])]
  return [...(pattern === undefined ? [] : [pattern]), ...inner.flatMap(patternsIn)]
}

for (const kind of sinkKinds)
  it(`tells what a value of ${kind.type} must be like in words, not as a regular expression`, () => {
    for (const pattern of patternsIn(kind.schema))
      assert.match(patternInWords(pattern), /^must /, `${pattern} has no words`)
  })
