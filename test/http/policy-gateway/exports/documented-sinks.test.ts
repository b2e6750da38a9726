import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { Compile } from 'typebox/schema'
import { sinkKinds } from '../../../../src/adapters/sinks/registry.ts'
import { isRecord } from '../../../../src/base/record.ts'
import type { JsonSchema } from '../../../../src/http/validation-messages.ts'
import type { Json } from '../../../support/administration.ts'
import { startExportScene } from '../../../support/export-scene.ts'
import { operationsOf } from '../../../support/openapi.ts'
import { valuesOf } from '../../../support/schema-values.ts'

type Described = JsonSchema & {
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly readOnly?: boolean
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> }
}

const scene = await startExportScene()
after(() => scene[Symbol.asyncDispose]())
const [create] = operationsOf(scene.app.openapi(), '/api/policy-gateway/exports').filter(
  ({ method, path }) => method === 'POST' && path === '/api/policy-gateway/exports',
)
const documented = create?.body as Described
const isDocumented = Compile(documented)

/** Rules that JSON Schema cannot express. The descriptions of the fields name them. */
const furtherRules = [
  /must be an https:\/\/ address/,
  /must not contain a (user name or password|query or fragment|path)/,
  /is not a certificate in PEM/,
  /give either url or cloud_id/,
  /is not a cloud id/,
  /belongs to (mode index|sse aws:kms)/,
  /is not a (bucket name|region of AWS)/,
  /must not begin with a slash/,
  /must be https:\/\/… and end in/,
]

for (const kind of sinkKinds) {
  const member = documented.anyOf?.find(({ properties = {} }) => properties['type']?.const === kind.type) ?? {}
  const config = member.properties?.['config'] as Described
  const problemsOf = (value: unknown) =>
    kind.problemsOf(isRecord(value) && kind.completed ? kind.completed(value, {}, () => 'gatehouse_1') : value)
  const bodyOf = (value: unknown) => ({ type: kind.type, config: value })

  describe(`the description of a ${kind.type} sink`, () => {
    it('is a member of the union, and the discriminator names it', () => {
      const { components } = scene.app.openapi() as { components: { schemas: Record<string, Described> } }
      const { discriminator } = components.schemas['ExportSinkCreate'] ?? {}
      const title = discriminator?.mapping[kind.type]?.split('/').at(-1) ?? ''
      assert.equal(components.schemas[title]?.properties?.['type']?.const, kind.type)
    })

    for (const example of examplesOf(kind.type, config)) {
      it(`has a valid example that the server accepts: ${JSON.stringify(example)}`, async () => {
        const answer = await scene.gateway('POST', '/exports', { body: { ...bodyOf(example), enabled: false } })
        assert.equal(answer.status, 201, JSON.stringify(answer.body))
        assert.ok(isDocumented.Check(bodyOf(example)))
      })
    }

    it('accepts and rejects the same configurations as the server', () => {
      const bases = examplesOf(kind.type, config)
      fc.assert(
        fc.property(fc.oneof(...bases.map((base) => variationsOf(config, base))), (value) => {
          const [problem] = problemsOf(value)
          const isForeseen = furtherRules.some((rule) => rule.test(problem?.message ?? ''))
          assert.equal(isDocumented.Check(bodyOf(value)), problem === undefined || isForeseen, JSON.stringify(problem))
        }),
        { numRuns: 500 },
      )
    })
  })
}

/** The required fields with their examples, once for each kind of credentials. */
function examplesOf(type: string, { properties = {}, required = [] }: Described): Json[] {
  // Either `url` or `cloud_id` is required, which the schema cannot express without a second union.
  const names = type === 'elastic' ? ['url', ...required] : required
  const example = Object.fromEntries(names.map((name) => [name, exampleOf(properties[name])]))
  const credentials = properties['auth']?.anyOf ?? []
  return credentials.length === 0 ? [example] : credentials.map((auth) => ({ ...example, auth: exampleOf(auth) }))
}

function exampleOf(field: Described = {}): unknown {
  const { properties = {}, required = [] } = field
  if (required.length > 0) return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name])]))
  return field.const ?? field.examples?.[0] ?? field.enum?.[0]
}

/** The valid value, or one that differs from it in one place. */
function variationsOf(schema: Described, valid: unknown): fc.Arbitrary<unknown> {
  const others = valuesOf(schema)
  if (typeof valid === 'string') return fc.oneof(fc.constant(valid), others, changedTexts(valid))
  if (!isRecord(valid)) return others
  const branch = schema.anyOf?.find(({ properties = {} }) => properties['type']?.const === valid['type']) ?? schema
  const fields: [string, Described][] = Object.entries(branch.properties ?? {})
  // The gateway generates the others, and ignores them in a request.
  const given = fields.filter(([, { readOnly = false }]) => !readOnly)
  const oneChanged = fc.constantFrom(...given).chain(([name, field]) => {
    const { [name]: value = exampleOf(field), ...without } = valid
    return fc.oneof(
      { weight: 1, arbitrary: fc.constant(without) },
      { weight: 6, arbitrary: variationsOf(field, value).map((changed) => ({ ...valid, [name]: changed })) },
    )
  })
  const misspelt = fc.jsonValue().map((typo) => ({ ...valid, typo }))
  return fc.oneof(fc.constant(valid), { weight: 12, arbitrary: oneChanged }, misspelt, others)
}

/** The text with characters inserted, or cut. */
const changedTexts = (text: string): fc.Arbitrary<string> =>
  fc
    .record({
      at: fc.nat(text.length),
      part: fc.string({ unit: fc.constantFrom('a', 'Z', '7', '-', '.', '/', ' ', '\n', 'é', '😀'), maxLength: 3 }),
      times: fc.constantFrom(1, 100, 600),
      cut: fc.nat(3),
    })
    .map(({ at, part, times, cut }) => text.slice(0, at) + part.repeat(times) + text.slice(at + cut))
