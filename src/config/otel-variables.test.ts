import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { checkConfig, readConfig } from './config.ts'
import { originsOf } from './origins.ts'
import { effectiveSettings } from './effective-settings.ts'

const tracesOf = (env: Record<string, string>) => readConfig({ GATEHOUSE_CONFIG: '', ...env }).traces

describe('the variables of OpenTelemetry', () => {
  it('turn traces on, which are off without them', () => {
    assert.equal(tracesOf({}).endpoint, undefined)
    assert.equal(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }).endpoint, 'http://c:4318')
  })

  it('for traces alone take precedence', () => {
    const { endpoint, compression, timeout_ms } = tracesOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/v1/traces',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    })
    assert.deepEqual([endpoint, compression, timeout_ms], ['http://traces:4318/v1/traces', 'gzip', 2000])
  })

  it('set headers and attributes of the resource', () => {
    const { headers, resource_attributes, service_name } = tracesOf({
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-tenant=one',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,bad,team=%E0%A4',
      OTEL_SERVICE_NAME: 'gateway',
    })
    assert.deepEqual(headers, { authorization: 'Bearer a=b', 'x-tenant': 'one' })
    assert.deepEqual(resource_attributes, { 'deployment.environment.name': 'staging', team: '%E0%A4' })
    assert.equal(service_name, 'gateway')
  })

  for (const [sampler, argument, expected] of [
    ['always_on', '', [1, false]],
    ['always_off', '', [0, false]],
    ['traceidratio', '0.25', [0.25, false]],
    ['parentbased_always_on', '', [1, true]],
    ['parentbased_always_off', '', [0, true]],
    ['parentbased_traceidratio', '0.1', [0.1, true]],
    ['parentbased_traceidratio', '', [1, true]],
    ['jaeger_remote', '0.5', [1, true]],
    ['Always_Off', '', [0, false]],
  ] as const)
    it(`choose the sampling ${sampler} ${argument}`, () => {
      const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument }
      const { sample_ratio, follow_caller } = tracesOf(env)
      assert.deepEqual([sample_ratio, follow_caller], expected)
    })

  it('name the service, which takes precedence over its name among the attributes', () => {
    const OTEL_RESOURCE_ATTRIBUTES = 'service.name=other,team=one'
    assert.deepEqual(tracesOf({ OTEL_RESOURCE_ATTRIBUTES }).resource_attributes, {
      'service.name': 'other',
      team: 'one',
    })
    const { service_name, resource_attributes } = tracesOf({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: 'gateway' })
    assert.deepEqual([service_name, resource_attributes], ['gateway', { team: 'one' }])
  })

  for (const [name, value, others] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', {}],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://', {}],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://user:secret@collector:4318', {}],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', {}],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', {}],
    ['OTEL_SERVICE_NAME', 'x'.repeat(256), {}],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', {}],
    ['OTEL_TRACES_SAMPLER_ARG', 'half', { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }],
  ] as const)
    it(`are ignored with a warning if they are invalid: ${name}=${value.slice(0, 40)}`, () => {
      const config = readConfig({ GATEHOUSE_CONFIG: '', [name]: value, ...others })
      assert.deepEqual(config.traces, tracesOf({}))
      const [warning = '', ...more] = originsOf(config).warnings
      assert.deepEqual(more, [])
      assert.ok(warning.startsWith(`${name} is ignored: `), warning)
      assert.doesNotMatch(warning, /secret/)
    })

  it('are not read if traces are turned off', () => {
    const invalid = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector', OTEL_SERVICE_NAME: 'gateway' }
    for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }]) {
      const config = readConfig({ GATEHOUSE_CONFIG: '', ...invalid, ...off })
      assert.deepEqual([config.traces, originsOf(config).warnings], [tracesOf({}), []])
    }
  })

  it('turn traces off, also those of the file', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'gatehouse.yaml')
    writeFileSync(file, 'traces: { endpoint: "http://c:4318" }')
    assert.equal(tracesOf({ GATEHOUSE_CONFIG: file }).endpoint, 'http://c:4318')
    for (const off of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])
      assert.equal(tracesOf({ GATEHOUSE_CONFIG: file, ...off }).endpoint, undefined)
  })

  it('are named as the origin of a setting, and their headers are hidden', () => {
    const config = readConfig({
      GATEHOUSE_CONFIG: '',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/secret-path',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=token',
    })
    const settings = effectiveSettings(config).filter(({ origin }) => origin === 'environment')
    assert.deepEqual(
      settings.map(({ key, value, isHidden, variable }) => [key, value, isHidden, variable]),
      [
        ['traces.endpoint', 'http://c:4318', false, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
        ['traces.headers', null, true, 'OTEL_EXPORTER_OTLP_HEADERS'],
      ],
    )
  })
})

describe('traces.endpoint', () => {
  for (const endpoint of ['http://', 'http://user:secret@collector:4318', 'http://collector:port'])
    it(`is rejected if it is no URL or has credentials: ${endpoint}`, () => {
      assert.throws(() => checkConfig({ traces: { endpoint } }), /traces\.endpoint must be a URL/)
    })
})
