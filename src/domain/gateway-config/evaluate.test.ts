import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { decisions } from '../audit/event/verdict.ts'
import { alwaysBlockedCategories, categories } from '../scan/classify/categories.ts'
import { defaultConfiguration, responsePatterns, type GatewayConfiguration } from './configuration.ts'
import { evaluateGateway, type GatewayInput } from './evaluate.ts'

const words = Type.Array(Type.String())
const strict = { additionalProperties: false }

/** The schema of a case file. It is strict, so that a misspelled field fails instead of being ignored. */
const Cases = Type.Array(
  Type.Object(
    {
      title: Type.String({ minLength: 1 }),
      rules: Type.Optional(
        Type.Object(
          {
            allowlist: Type.Optional(words),
            denylist: Type.Optional(words),
            redact: Type.Optional(Type.Boolean()),
            rewrite_instead_of_refuse: Type.Optional(Type.Boolean()),
            response_pattern: Type.Optional(Type.Enum([...responsePatterns])),
            reason_codes: Type.Optional(words),
            flagged_categories: Type.Optional(Type.Array(Type.Enum([...categories]))),
          },
          strict,
        ),
      ),
      replacement: Type.Optional(Type.Enum([...responsePatterns])),
      findings: Type.Object(
        {
          direction: Type.Optional(Type.Enum(['request', 'response'])),
          categories: Type.Optional(words),
          allowlistHits: Type.Optional(words),
          denylistHits: Type.Optional(words),
          personalData: Type.Optional(Type.Record(Type.String(), Type.Integer())),
          canRephrase: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
      expected: Type.Object(
        {
          decision: Type.Enum([...decisions]),
          reasonCode: Type.Optional(Type.String()),
          triggeredCategories: Type.Optional(words),
        },
        strict,
      ),
    },
    strict,
  ),
)
type Case = Static<typeof Cases>[number]

const nothing: GatewayInput = {
  direction: 'request',
  categories: [],
  allowlistHits: [],
  denylistHits: [],
  personalData: {},
  canRephrase: true,
}

const configurationOf = ({ rules, replacement }: Pick<Case, 'rules' | 'replacement'>): GatewayConfiguration => ({
  ...defaultConfiguration,
  rules: { ...defaultConfiguration.rules, ...rules },
  refusal_replacement: { mode: replacement ?? null, escalation_path: null },
})

describe('a gateway configuration', () => {
  for (const file of globSync(`${import.meta.dirname}/cases/*.json`)) {
    const cases: unknown = JSON.parse(readFileSync(file, 'utf8'))
    Value.Assert(Cases, cases)
    for (const one of cases) {
      it(one.title, () => {
        const decided = evaluateGateway(configurationOf(one), { ...nothing, ...one.findings })
        assert.deepEqual({ ...decided, ...one.expected }, decided)
      })
    }
  }

  it('ignores always-blocked categories, because another check blocks them', () => {
    const rules = fc.record({
      allowlist: fc.subarray(['tea']),
      redact: fc.boolean(),
      rewrite_instead_of_refuse: fc.boolean(),
      response_pattern: fc.constantFrom(...responsePatterns),
      flagged_categories: fc.subarray([...categories]),
    })
    const findings = fc.record({
      direction: fc.constantFrom('request', 'response'),
      categories: fc.tuple(fc.constantFrom(...alwaysBlockedCategories), fc.subarray([...categories])),
      canRephrase: fc.boolean(),
    })
    fc.assert(
      fc.property(rules, findings, (given, { categories: [blocked, others], ...rest }) => {
        const config = configurationOf({ rules: given })
        const withoutBlocked = { ...nothing, ...rest, categories: others.filter((category) => category !== blocked) }
        const withBlocked = { ...withoutBlocked, categories: [...withoutBlocked.categories, blocked] }
        assert.deepEqual(evaluateGateway(config, withBlocked), evaluateGateway(config, withoutBlocked))
      }),
    )
  })
})
