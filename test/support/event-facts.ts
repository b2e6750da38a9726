import fc from 'fast-check'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import { checks, decisions } from '../../src/domain/audit/event/verdict.ts'

/** Texts of any length, including quotes and lone surrogates. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"category_uid":', '\ud800', 'x'.repeat(1024), 'x'.repeat(1025), '\ud83d\ude00'.repeat(600)),
)
const texts = fc.oneof(fc.array(text, { maxLength: 4 }), fc.constant(Array.from({ length: 120 }, () => 'many')))
const number = fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }))
const word = fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((name) => !/^\d+$/.test(name))

const some = <T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) => fc.record(model, { requiredKeys: [] })

const verdict = fc.record(
  {
    decision: fc.constantFrom(...decisions),
    isEnforced: fc.boolean(),
    reasonCode: text,
    cause: fc.constantFrom('quota' as const, 'always_blocked' as const),
    policy: fc.record(
      { id: text, name: text, version: fc.oneof(fc.nat(), text), kind: text },
      { requiredKeys: ['id'] },
    ),
    results: fc.array(
      fc.record(
        {
          policyId: text,
          version: fc.option(fc.nat()),
          decision: fc.constantFrom(...decisions),
          isEnforced: fc.boolean(),
          scoreBasisPoints: fc.nat(),
        },
        { requiredKeys: ['policyId', 'version', 'decision', 'isEnforced'] },
      ),
    ),
    check: fc.constantFrom(...checks),
    checkResults: fc.array(
      fc.record(
        {
          check: fc.constantFrom(...checks),
          decision: fc.constantFrom(...decisions),
          isEnforced: fc.boolean(),
          triggeredCategories: texts,
          scoreBasisPoints: fc.nat(),
          matched: fc.record({
            deniedTerms: fc.array(fc.nat()),
            hasNoAllowedTerm: fc.boolean(),
            personalData: fc.dictionary(fc.constantFrom('email', 'phone'), fc.nat()),
          }),
        },
        { requiredKeys: ['check', 'decision', 'isEnforced', 'triggeredCategories'] },
      ),
    ),
    gatewayVersion: fc.nat(),
    direction: fc.constantFrom('request' as const, 'response' as const),
    rolloutMode: text,
    categoriesTriggered: texts,
    categoriesRequested: texts,
    matchScoreBasisPoints: fc.nat(),
    coverage: fc.constantFrom('held_back' as const, 'paragraph' as const, 'whole' as const),
    dataClassification: text,
  },
  { requiredKeys: ['decision', 'isEnforced'] },
)

const model = fc.record(
  {
    provider: text,
    name: text,
    inputTokens: fc.nat(),
    outputTokens: fc.nat(),
    finishReasons: texts,
    usageSource: fc.constantFrom('reported' as const, 'estimated' as const),
    isStream: fc.boolean(),
    creditsUsed: number,
    costUsd: number,
  },
  { requiredKeys: ['provider', 'name'] },
)

/** Any facts that a module may report to the audit log. */
export const anyFacts: fc.Arbitrary<EventFacts> = fc.record(
  {
    code: fc.constantFrom('gateway.request.decided' as const, 'policy.updated' as const, 'audit.tamper_found' as const),
    organizationId: fc.constant('org_1'),
    timeMs: fc.nat(),
    message: text,
    requestId: text,
    projectId: text,
    actor: some({ kind: text, userId: text, credentialId: text }),
    call: fc.record(
      { method: text, path: text, address: text, userAgent: text, status: fc.nat(), latencyMs: number },
      { requiredKeys: ['method', 'path'] },
    ),
    verdict,
    model,
    change: fc.record(
      {
        type: fc.constantFrom('policy' as const, 'gateway_config' as const),
        id: text,
        name: text,
        versionBefore: text,
        versionAfter: text,
        digestBefore: text,
        digestAfter: text,
        changedFields: texts,
      },
      { requiredKeys: ['type', 'id'] },
    ),
    failure: fc.record({ code: text }),
    resources: fc.array(fc.record({ uid: text, type: text, name: text }, { requiredKeys: ['uid', 'type'] })),
    details: fc.dictionary(word, fc.oneof(text, texts, number, fc.dictionary(word, text)), { maxKeys: 5 }),
  },
  { requiredKeys: ['code', 'organizationId', 'timeMs', 'message'] },
)
