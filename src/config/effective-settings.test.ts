import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkConfig, readConfig } from './config.ts'
import { effectiveSettings, type Setting } from './effective-settings.ts'
import { ConfigSchema, type Config } from './schema.ts'

type Node = {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly patternProperties?: object
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly default?: unknown
}

/** A configuration with every text field set to a text of its own, by the path of the field. It is not checked. */
function planted() {
  const texts = new Map<string, string>()
  const plant = (path: string, { pattern = '' }: Node): string => {
    const marker = `planted-${texts.size}-0123456789abcdef0123456789abcdef`
    texts.set(path, marker)
    if (pattern.includes('postgres')) return `postgres://user:${marker}@db.example/${marker}`
    if (pattern.includes('redis')) return `redis://user:${marker}@cache.example/${marker}`
    return pattern.includes('http') ? `https://user:${marker}@host.example/${marker}?key=${marker}` : marker
  }
  const make = (node: Node, path: string): unknown => {
    if (node.properties !== undefined)
      return Object.fromEntries(
        Object.entries(node.properties).map(([name, child]) => [
          name,
          make(child, path === '' ? name : `${path}.${name}`),
        ]),
      )
    if (node.enum !== undefined) return node.default ?? node.enum[0]
    if (node.patternProperties !== undefined) return { 'x-team': plant(path, node) }
    if (node.type === 'array') return node.items?.enum ? node.default : [make(node.items ?? {}, `${path}[0]`)]
    return node.type === 'string' ? plant(path, node) : node.default
  }
  return { config: make(ConfigSchema as Node, '') as Config, texts }
}

/** Fields that hold a credential. */
const isCredential = (path: string): boolean =>
  /(^|[._])(secret|api_key|secret_access_key|access_key_id|session_token|password|client_secret|headers|database_url|reports_url|redis_url)/.test(
    path,
  )

describe('the effective settings', () => {
  it('contain no credential, whatever field holds it', () => {
    const { config, texts } = planted()
    const settings = effectiveSettings(config)
    const shown = JSON.stringify(settings.map(({ value }) => value))
    const credentials = [...texts].filter(([path]) => isCredential(path))
    assert.ok(credentials.length >= 9, 'the walk finds the fields')
    for (const [path, text] of credentials) assert.ok(!shown.includes(text), path)
  })

  it('contain no user, password, path or query of an upstream’s URL', () => {
    const base_url = 'https://user:pass@models.example:8443/v1/path-key?key=query-key'
    const config = checkConfig({ upstreams: [{ name: 'a', kind: 'openai-chat', base_url }] })
    const setting = effectiveSettings(config).find(({ key }) => key === 'upstreams[0].base_url')
    assert.equal(setting?.value, 'https://models.example:8443')
  })

  it('hide a text unless it is in the list of shown ones', () => {
    const { config, texts } = planted()
    const byKey = new Map(effectiveSettings(config).map((setting) => [setting.key, setting]))
    for (const path of texts.keys()) assert.ok(byKey.has(path.replace(/\[0\]$/, '')), path)
    assert.deepEqual(pick(byKey.get('secret')), { value: null, isHidden: true, origin: 'default', variable: null })
    assert.equal(byKey.get('upstreams[0].headers')?.isHidden, true)
    assert.equal(byKey.get('server.host')?.isHidden, false)
  })

  it('say where a value comes from, and that an unset one is not hidden', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-settings-')), 'gatehouse.yaml')
    writeFileSync(file, 'server: { port: 9000, host: 0.0.0.0 }\nmoderation: { classifier: embedded }\n')
    const settings = effectiveSettings(readConfig({ GATEHOUSE_CONFIG: file, GATEHOUSE_PORT: '9001' }))
    const of = (key: string) => pick(settings.find((setting) => setting.key === key))
    assert.deepEqual(of('server.port'), {
      value: 9001,
      isHidden: false,
      origin: 'environment',
      variable: 'GATEHOUSE_PORT',
    })
    assert.deepEqual(of('server.host'), { value: '0.0.0.0', isHidden: false, origin: 'file', variable: null })
    assert.deepEqual(of('server.trust_proxy'), { value: false, isHidden: false, origin: 'default', variable: null })
    assert.deepEqual(of('storage.database_url'), { value: null, isHidden: false, origin: 'default', variable: null })
    assert.equal(of('moderation.classifier.kind')?.origin, 'file')
    assert.deepEqual(of('upstreams')?.value, [])
  })
})

function pick(setting: Setting | undefined) {
  if (setting === undefined) return undefined
  const { value, isHidden, origin, variable } = setting
  return { value, isHidden, origin, variable }
}
