import type { Clock } from '../../base/clock.ts'
import type { Changes } from '../mutations/changes.ts'
import { createOrganizationCache } from '../mutations/organization-cache.ts'
import { exceptionsByPolicy } from '../exceptions/covered.ts'
import type { ExceptionStore } from '../exceptions/exception.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import { unsaved, type SavedConfiguration } from '../gateway-config/configuration.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import { compileTerms } from '../scan/detect/terms.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { CompiledRule, CompileRule } from '../policy/compiled-rule.ts'
import { thresholdOf, type PolicyContent } from '../policy/content.ts'
import type { RuleJudge } from '../policy/judge.ts'
import type { Policy } from '../policy/policy.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { ActivePolicy, Gateway, Rulebook, RulebookOf } from './rulebook.ts'

export type RulebookParts = {
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly policies: Pick<PolicyStore, 'listInForce'>
  readonly exceptions: Pick<ExceptionStore, 'listLive'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly changes: Changes
  readonly compileRule: CompileRule
  readonly patterns: PatternEngine
  /** The judge in force of an organization. */
  readonly judgeOf: (organizationId: string) => MaybePromise<RuleJudge | undefined>
}

/** Compiles an organization's rules once, and again after any change of the organization. */
export function createRulebooks(parts: RulebookParts): RulebookOf {
  return createOrganizationCache({ changes: parts.changes, read })

  /** Compiles only what has changed since the last load. */
  async function read(organizationId: string, before: Rulebook | undefined): Promise<Rulebook> {
    const [saved = unsaved, policies, exceptions, judge] = await Promise.all([
      parts.gateway.find(organizationId),
      parts.policies.listInForce(organizationId),
      parts.exceptions.listLive(organizationId, parts.clock.nowMs()),
      parts.judgeOf(organizationId),
    ])
    const isSame = before?.gateway.version === saved.version
    // Another judge evaluates the same rules differently.
    const kept = before?.judge === judge ? before?.policies : undefined
    const rules = new Map(kept?.map(({ versionId, rule }) => [versionId, rule]))
    return {
      organizationId,
      gateway: isSame ? { ...before.gateway, ...saved } : compileGateway(saved, parts.patterns),
      policies: policies.flatMap((policy) => activePolicy(policy, rules, judge)),
      exceptions: exceptionsByPolicy(exceptions),
      judge,
    }
  }

  function activePolicy(
    { id, name, organizationId, published, rolloutPercent }: Policy,
    rules: ReadonlyMap<string, CompiledRule>,
    judge: RuleJudge | undefined,
  ): readonly ActivePolicy[] {
    if (published === null) return []
    const { id: versionId, rule, publishedAtMs: _, ...content } = published
    const source = { ...judgedSource(id, content), rule, versionId, organizationId, judge }
    const compiled = rules.get(versionId) ?? parts.compileRule(source)
    const share = rolloutPercent < 100 ? { rolloutPercent } : {}
    return [{ ...content, ...share, id, name, versionId, rule: compiled }]
  }
}

/** The part of a rule's source that only a judge needs. */
export const judgedSource = (policyId: string, content: Omit<PolicyContent, 'rule' | 'mode'>) => ({
  policyId,
  threshold: thresholdOf(content),
  judgeWindow: content.judgeWindow,
  judgeWhen: content.judgeWhen,
})

/** Also used for the configuration of a simulation. */
export function compileGateway(saved: SavedConfiguration, patterns: PatternEngine): Gateway {
  const { allowlist, denylist } = saved.config.rules
  const terms = [...allowlist, ...denylist]
  return { ...saved, terms: terms.length === 0 ? undefined : compileTerms(terms, patterns) }
}
