import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Compile } from 'typebox/schema'
import { parse } from 'yaml'
import projectFile from '../../package.json' with { type: 'json' }
import { commands } from '../../src/cli/commands.ts'
import { ConfigSchema } from '../../src/config/schema.ts'
import { readPage } from '../support/docs/page.ts'
import { instructionsOf, readDockerfile } from './image-dockerfile.ts'

const chart = join(import.meta.dirname, '../../deploy/helm/gatehouse')
const read = (path: string): string => readFileSync(join(chart, path), 'utf8')

type Values = { readonly [key: string]: unknown }
type SchemaNode = {
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly env?: string
  readonly envFile?: boolean
}

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Merges values as Helm does: objects key by key, everything else as a whole. */
function merged(defaults: Values, given: Values): Values {
  const entries = Object.entries(given).map(([key, value]) => {
    const base = defaults[key]
    return [key, isRecord(base) && isRecord(value) ? merged(base, value) : value] as const
  })
  return { ...defaults, ...Object.fromEntries(entries) }
}

const defaults: Values = parse(read('values.yaml'))
const schema: SchemaNode = JSON.parse(read('values.schema.json'))
const validator = Compile(schema)
const problemsOf = (given: Values): string[] => {
  const [isValid, errors] = validator.Errors(merged(defaults, given))
  return isValid ? [] : errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const templates = globSync('templates/**/*.{yaml,tpl,txt}', { cwd: chart })
  .sort()
  .map((path) => ({ path, text: read(path) }))

/** The paths of all keys of an object, and of the objects in it. */
const pathsIn = (value: unknown, prefix = ''): string[] =>
  isRecord(value)
    ? Object.entries(value).flatMap(([key, inner]) => [prefix + key, ...pathsIn(inner, `${prefix}${key}.`)])
    : []

/** The paths that a schema describes by name. */
const pathsOf = ({ properties = {} }: SchemaNode, prefix = ''): string[] =>
  Object.entries(properties).flatMap(([key, node]) => [prefix + key, ...pathsOf(node, `${prefix}${key}.`)])

/** The environment variables that the configuration reads. */
const variablesOf = ({ properties = {}, env, envFile }: SchemaNode): string[] => [
  ...(env === undefined ? [] : envFile ? [env, `${env}_FILE`] : [env]),
  ...Object.values(properties).flatMap(variablesOf),
]

describe('the values of the Helm chart', () => {
  const files = globSync('ci/*.yaml', { cwd: chart }).sort()

  it('are valid in every example', () => {
    assert.deepEqual(
      files.map((path) => path.slice('ci/'.length)),
      ['cluster.yaml', 'embedded.yaml', 'everything.yaml', 'prefix.yaml', 'trial.yaml'],
    )
    for (const file of files) assert.deepEqual(problemsOf(parse(read(file))), [], file)
  })

  it('are all listed in values.yaml, with a schema for each', () => {
    const described = pathsOf(schema).filter((path) => !/^(?:config\.|global$)/.test(path))
    const optional = ['httpRoute.timeouts.request', 'httpRoute.timeouts.backendRequest'] // an empty object by default
    const listed = pathsIn(defaults).filter((path) => !/^(?:resources|metrics\.dashboards\.labels)\./.test(path))
    assert.deepEqual(described.filter((path) => !optional.includes(path)).sort(), listed.sort())
  })

  for (const [what, given, expected] of [
    ['an unknown value', { replica: 3 }, /^\/replica /],
    ['an unknown value in a section', { database: { exitingSecret: 'a' } }, /^\/database\/exitingSecret /],
    [
      'an unknown key of the configuration',
      { config: { server: { publicUrl: 'https://a' } } },
      /^\/config\/server\/publicUrl /,
    ],
    ['a wrong type', { replicas: '3' }, /^\/replicas must be integer/],
    ['a port that the chart sets', { config: { server: { port: 80 } } }, /^\/config\/server\/port /],
    [
      'a key of an upstream that is no reference',
      { config: { upstreams: [{ name: 'a', kind: 'anthropic', api_key: 'sk-1' }] } },
      /^\/config\/upstreams\/0\/api_key must match pattern/,
    ],
    [
      'a header of an upstream that has a key',
      { config: { upstreams: [{ name: 'a', kind: 'echo', headers: { 'X-Api-Key': 'sk-1' } }] } },
      /^\/config\/upstreams\/0\/headers\/X-Api-Key must match pattern/,
    ],
    [
      'a header of traces that is no reference',
      { config: { traces: { headers: { authorization: 'Bearer sk-1' } } } },
      /^\/config\/traces\/headers\/authorization must match pattern/,
    ],
    [
      'a password in the configuration',
      { config: { storage: { database_url: 'postgres://a:b@c/d' } } },
      /^\/config\/storage\/database_url /,
    ],
    [
      'an entry without its name',
      { config: { upstreams: [{ kind: 'echo' }] } },
      /^\/config\/upstreams\/0 must have required/,
    ],
    [
      'the name of a Secret with a space',
      { secret: { existingSecret: 'a b' } },
      /^\/secret\/existingSecret must match/,
    ],
    ['a prefix that ends with a slash', { httpRoute: { prefix: '/a/' } }, /^\/httpRoute\/prefix must match/],
  ] as const) {
    it(`are rejected with ${what}`, () => assert.match(problemsOf(given).join('\n'), expected))
  }

  it('may refer to variables and files where the configuration expects an address', () => {
    const upstream = { name: 'a', kind: 'openai-chat', base_url: '${MODEL_URL}', api_key: '${file:/etc/key}' }
    assert.deepEqual(problemsOf({ config: { upstreams: [upstream], moderation: { classifier: 'embedded' } } }), [])
  })

  it('may have headers with references, and headers of upstreams that are not secret', () => {
    const headers = { Authorization: 'Bearer ${TOKEN}', 'x-team-key': '${file:/etc/key}', 'x-keyspace': 'one' }
    const upstream = { name: 'a', kind: 'echo', headers }
    const traces = { headers: { 'x-team': '${TEAM}' } }
    assert.deepEqual(problemsOf({ config: { upstreams: [upstream], traces } }), [])
  })
})

describe('the guide for Kubernetes', () => {
  const { blocks } = readPage(join(import.meta.dirname, '../..'), 'docs/guide/kubernetes.md')

  it('has valid values', () => {
    const files = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => parse(text) as Values)
    const examples = files.filter((file) => !('apiVersion' in file))
    assert.ok(examples.length >= 6)
    for (const example of examples) assert.deepEqual(problemsOf(example), [], JSON.stringify(example))
  })

  it('runs only commands of the gateway that exist', () => {
    const typed = blocks.filter(({ language }) => language === 'console').map(({ text }) => text)
    const run = [...typed.join('').matchAll(/-- gatehouse ([a-z]+)/g)].map(([, name = '']) => name)
    assert.deepEqual(run, ['console', 'backup'])
    for (const name of run) assert.ok(name in commands, name)
  })
})

describe('the templates of the Helm chart', () => {
  it('read only values that exist', () => {
    const known = new Set(pathsIn(defaults))
    const used = templates.flatMap(({ path, text }) =>
      [...text.matchAll(/\.Values\.([A-Za-z.]+)/g)].map(([, name = '']) => ({ path, name: name.replace(/\.$/, '') })),
    )
    assert.deepEqual(
      used.filter(({ name }) => !known.has(name)),
      [],
    )
    assert.ok(used.length > 50)
  })

  it('use every section of the values', () => {
    const all = templates.map(({ text }) => text).join('\n')
    const isUsed = (key: string): boolean =>
      all.includes(`.Values.${key}`) || all.includes(`$values.${key}`) || all.includes(`"${key}"`)
    assert.deepEqual(
      Object.keys(defaults).filter((key) => !isUsed(key)),
      [],
    )
  })

  it('set only environment variables that the server reads', () => {
    const known = new Set([...variablesOf(ConfigSchema as SchemaNode), 'GATEHOUSE_CONFIG'])
    const set = templates.flatMap(({ text }) =>
      [...text.matchAll(/(?:name: |")([A-Z]+_[A-Z_]+)\b/g)].map(([, name = '']) => name),
    )
    assert.deepEqual(
      set.filter((name) => !known.has(name)),
      [],
    )
    assert.ok(set.includes('DATABASE_URL_FILE') && set.includes('GATEHOUSE_METRICS_PORT'))
  })

  it('run only commands that exist', () => {
    const run = templates.flatMap(({ text }) => [...text.matchAll(/args: \[(\w+)/g)].map(([, name = '']) => name))
    assert.deepEqual(run.sort(), ['health', 'migrate', 'serve'])
    for (const name of run) assert.ok(name in commands, name)
  })

  it('agree with the image: its user, its port, its data folder, and a program that takes the command', () => {
    const { stages } = readDockerfile(join(chart, '../../Dockerfile'))
    const last = (keyword: string): string => instructionsOf(stages.at(-1), keyword).at(-1)?.text ?? ''
    const all = templates.map(({ text }) => text).join('\n')
    assert.equal(last('USER'), '65532:65532')
    assert.match(all, /runAsUser: 65532\n  runAsGroup: 65532/)
    assert.match(last('ENV'), /GATEHOUSE_PORT=8080\b/)
    assert.match(all, /name: http, containerPort: 8080 /)
    assert.equal(last('VOLUME'), '["/data"]')
    assert.match(all, /define "gatehouse\.dataFolder" -}}\/data{{-/)
    assert.match(last('ENTRYPOINT'), /gatehouse\.mjs"\]$/)
    assert.equal(last('CMD'), '["serve"]')
  })

  it('contain nothing random and look nothing up, so that every rendering is the same', () => {
    for (const { path, text } of templates)
      assert.doesNotMatch(text, /\b(?:rand\w+|uuidv4|genCA|genSelfSignedCert|genPrivateKey|lookup|now)\b/, path)
  })
})

it('the Helm chart has the version of the project', () => {
  const { version, appVersion } = parse(read('Chart.yaml')) as Values
  assert.deepEqual([version, appVersion], [projectFile.version, projectFile.version])
})
