import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkConfig, readConfig } from './config.ts'

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
  it('takes the environment over the file', () => {
    const file = written('server: { port: 1, host: 0.0.0.0 }')
    const { server } = readConfig({ GATEHOUSE_CONFIG: file, GATEHOUSE_PORT: '2' })
    assert.deepEqual([server.port, server.host], [2, '0.0.0.0'])
  })
  it('names the nearest known key where one is unknown', () => {
    assert.throws(() => checkConfig({ server: { prot: 1 } }), /server\.prot is not known; did you mean port\?/)
    assert.throws(() => checkConfig({ modles: [] }), /modles is not known; did you mean models\?/)
  })
  it('names the place of a wrong value', () => {
    assert.throws(
      () => checkConfig({ models: [{ name: 'a', targets: [{ upstream: 3 }] }] }),
      /models\[0\]\.targets\[0\]\.upstream must be string/,
    )
    assert.throws(() => readConfig({ GATEHOUSE_PORT: 'eighty' }), /server\.port/)
  })
  it('takes a section that is written short', () => {
    assert.equal(checkConfig({ moderation: { classifier: 'embedded' } }).moderation.classifier.kind, 'embedded')
    assert.throws(() => checkConfig({ moderation: { classifier: 'remote' } }), /moderation\.classifier\.kind.*openai/)
    assert.throws(() => checkConfig({ moderation: { classifier: { url: '' } } }), /url is not known; did you mean/)
  })
  it('takes variables into texts, and names the one that is missing', () => {
    const file = written('upstreams: [{ name: a, kind: echo, api_key: "x-${SOME_KEY}" }]')
    assert.equal(readConfig({ GATEHOUSE_CONFIG: file, SOME_KEY: 'secret' }).upstreams[0]?.api_key, 'x-secret')
    assert.throws(
      () => readConfig({ GATEHOUSE_CONFIG: file }),
      /upstreams\[0\]\.api_key: the variable SOME_KEY is not set/,
    )
  })
  it('says so where the file it was told to read is missing or is no YAML', () => {
    assert.throws(() => readConfig({ GATEHOUSE_CONFIG: '/nowhere/gatehouse.yaml' }), /nowhere/)
    assert.throws(() => readConfig({ GATEHOUSE_CONFIG: written('a: [') }), /gatehouse\.yaml/)
  })
  it('cannot be changed once read', () => {
    assert.throws(() => Object.assign(readConfig({}).server, { port: 1 }), TypeError)
  })
})
