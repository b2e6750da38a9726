import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { checkConfig, readConfig } from './config.ts'
import { fileValuesOf } from './file-values.ts'

const written = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-config-')), 'gatehouse.yaml')
  writeFileSync(file, text)
  return file
}

describe('the configuration', () => {
  it('needs nothing: every key has a default', () => {
    const config = readConfig({})
    assert.equal(config.server.port, 8080)
    assert.equal(config.storage.data_dir, './data')
  })
  it('prefers the environment to the file', () => {
    const file = written('server: { port: 1, host: 0.0.0.0 }')
    const { server } = readConfig({ GATEHOUSE_CONFIG: file, GATEHOUSE_PORT: '2' })
    assert.deepEqual([server.port, server.host], [2, '0.0.0.0'])
  })
  it('reads true and false from the environment, and rejects other words', () => {
    const { console, server } = readConfig({ GATEHOUSE_CONSOLE: 'false', GATEHOUSE_TRUST_PROXY: 'true' })
    assert.deepEqual([console.enabled, server.trust_proxy], [false, true])
    assert.throws(() => readConfig({ GATEHOUSE_CONSOLE: 'no' }), /console\.enabled must be boolean/)
  })
  it('reads a number or the word auto as the number of workers', () => {
    const workersOf = (text: string): unknown => readConfig({ GATEHOUSE_WORKERS: text }).server.workers
    assert.deepEqual([workersOf('auto'), workersOf('3'), workersOf('')], ['auto', 3, 1])
    for (const text of ['0', '1.5', 'many']) assert.throws(() => workersOf(text), /server\.workers must/)
  })
  it('reads from the environment what differs behind a load balancer', () => {
    const { server } = readConfig({ GATEHOUSE_PUBLIC_URL: 'https://gw.example.com', GATEHOUSE_DRAIN_DELAY_MS: '5000' })
    assert.deepEqual([server.public_url, server.drain_delay_ms], ['https://gw.example.com', 5000])
  })
  it('suggests the nearest known key for an unknown one', () => {
    assert.throws(() => checkConfig({ server: { prot: 1 } }), /server\.prot is not known; did you mean port\?/)
    assert.throws(() => checkConfig({ modles: [] }), /modles is not known; did you mean models\?/)
  })
  it('names the path of an invalid value', () => {
    assert.throws(
      () => checkConfig({ models: [{ name: 'a', targets: [{ upstream: 3 }] }] }),
      /models\[0\]\.targets\[0\]\.upstream must be string/,
    )
    assert.throws(() => readConfig({ GATEHOUSE_PORT: 'eighty' }), /server\.port/)
  })
  it('accepts a section that is written as a plain value', () => {
    assert.equal(checkConfig({ moderation: { classifier: 'embedded' } }).moderation.classifier.kind, 'embedded')
    assert.throws(() => checkConfig({ moderation: { classifier: 'remote' } }), /moderation\.classifier\.kind.*openai/)
    assert.throws(() => checkConfig({ moderation: { classifier: { url: '' } } }), /url is not known; did you mean/)
  })
  it('replaces variables in texts, and names one that is missing', () => {
    const file = written('upstreams: [{ name: a, kind: echo, api_key: "x-${SOME_KEY}" }]')
    assert.equal(readConfig({ GATEHOUSE_CONFIG: file, SOME_KEY: 'secret' }).upstreams[0]?.api_key, 'x-secret')
    assert.throws(
      () => readConfig({ GATEHOUSE_CONFIG: file }),
      /upstreams\[0\]\.api_key: the variable SOME_KEY is not set/,
    )
  })
  it('replaces files in texts, without the newline at their end', () => {
    const file = written(
      'upstreams: [{ name: a, kind: echo, api_key: "${file:key}", headers: { x: "a ${file:key} ${B}" } }]',
    )
    const key = join(dirname(file), 'key')
    writeFileSync(key, 'se$&cret ${B}\r\n')
    const config = readConfig({ GATEHOUSE_CONFIG: file, B: '${file:/etc/hostname}' })
    const [upstream] = config.upstreams
    assert.equal(upstream?.api_key, 'se$&cret ${B}')
    assert.equal(
      upstream.headers?.['x'],
      'a se$&cret ${B} ${file:/etc/hostname}',
      'references in replaced text are not replaced',
    )
    assert.deepEqual(
      fileValuesOf(config).map(({ field }) => field),
      ['upstreams[0].api_key', 'upstreams[0].headers.x'],
    )
    writeFileSync(key, 'other')
    assert.equal(fileValuesOf(config)[0]?.read(), 'other')
  })
  it('names field and file if a file is missing or empty', () => {
    const file = written('upstreams: [{ name: a, kind: echo, api_key: "${file:/nowhere/key}" }]')
    assert.throws(
      () => readConfig({ GATEHOUSE_CONFIG: file }),
      /upstreams\[0\]\.api_key: the file \/nowhere\/key cannot be read \(ENOENT\)/,
    )
    const empty = written('moderation: { classifier: { api_key: "${file:empty}" } }')
    writeFileSync(join(dirname(empty), 'empty'), '\n')
    assert.throws(
      () => readConfig({ GATEHOUSE_CONFIG: empty }),
      /moderation\.classifier\.api_key: the file .*\/empty is empty/,
    )
  })
  it('reads the server secret and URLs from files that variables name', () => {
    const secret = written('a secret of some length\n')
    const address = written('postgres://u:p@127.0.0.1/x\n')
    const config = readConfig({ GATEHOUSE_SECRET_FILE: secret, DATABASE_URL_FILE: address })
    assert.deepEqual(
      [config.secret, config.storage.database_url],
      ['a secret of some length', 'postgres://u:p@127.0.0.1/x'],
    )
    assert.throws(
      () => readConfig({ GATEHOUSE_SECRET_FILE: '/nowhere/secret' }),
      /GATEHOUSE_SECRET_FILE: the file \/nowhere\/secret/,
    )
    assert.throws(
      () => readConfig({ GATEHOUSE_SECRET_FILE: secret, GATEHOUSE_SECRET: 'a secret of another' }),
      /both set/,
    )
    assert.throws(
      () => readConfig({ GATEHOUSE_SECRET_FILE: written('short') }),
      (error: Error) => {
        assert.match(error.message, /secret must not have fewer than 16/)
        return !error.message.includes('short')
      },
    )
  })
  it('reports a configuration file that is missing or not YAML', () => {
    assert.throws(() => readConfig({ GATEHOUSE_CONFIG: '/nowhere/gatehouse.yaml' }), /nowhere/)
    assert.throws(() => readConfig({ GATEHOUSE_CONFIG: written('a: [') }), /gatehouse\.yaml/)
  })
  it('cannot be changed once read', () => {
    assert.throws(() => Object.assign(readConfig({}).server, { port: 1 }), TypeError)
  })
})
