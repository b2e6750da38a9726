import type { Changes } from '../identity/changes.ts'
import type { GatewayStore } from '../gateway/store.ts'
import { unsaved, type SavedConfiguration } from '../gateway/configuration.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import { compileTerms } from '../moderation/terms.ts'
import type { CompileRule } from '../policy/compiled-rule.ts'
import type { Policy } from '../policy/policy.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { ActivePolicy, Gateway, Rulebook, RulebookOf } from './rulebook.ts'

export type RulebookParts = {
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly policies: Pick<PolicyStore, 'listInForce'>
  readonly changes: Changes
  readonly compileRule: CompileRule
  readonly patterns: PatternEngine
}

/** Organizations whose rules are kept compiled; the one asked for longest ago goes first. */
const mostKept = 1_000

type Kept = { readonly rulebook: Promise<Rulebook>; readonly readAt: number }

/** Reads an organization's rules once, and again after something of the organization has changed. */
export function createRulebooks(parts: RulebookParts): RulebookOf {
  const kept = new Map<string, Kept>()

  return (organizationId) => {
    const known = kept.get(organizationId)
    if (known !== undefined && parts.changes.latestOf(organizationId) <= known.readAt) return known.rulebook
    const readAt = parts.changes.count()
    const rulebook = read(organizationId)
    keep(organizationId, { rulebook, readAt })
    // What could not be read is read again for the next one who asks.
    rulebook.catch(() => {
      if (kept.get(organizationId)?.rulebook === rulebook) kept.delete(organizationId)
    })
    return rulebook
  }

  function keep(organizationId: string, one: Kept): void {
    kept.delete(organizationId)
    kept.set(organizationId, one)
    if (kept.size <= mostKept) return
    const [oldest] = kept.keys()
    if (oldest !== undefined) kept.delete(oldest)
  }

  async function read(organizationId: string): Promise<Rulebook> {
    const [saved = unsaved, policies] = await Promise.all([
      parts.gateway.find(organizationId),
      parts.policies.listInForce(organizationId),
    ])
    return { gateway: compileGateway(saved, parts.patterns), policies: policies.flatMap(activePolicy) }
  }

  function activePolicy({ id, published }: Policy): readonly ActivePolicy[] {
    if (published === null) return []
    const { id: versionId, rule, publishedAtMs: _, ...content } = published
    return [{ ...content, id, versionId, rule: parts.compileRule(rule, versionId) }]
  }
}

/** The same for a configuration that a simulation brings along. */
export function compileGateway(saved: SavedConfiguration, patterns: PatternEngine): Gateway {
  const { allowlist, denylist } = saved.config.rules
  const terms = [...allowlist, ...denylist]
  return { ...saved, terms: terms.length === 0 ? undefined : compileTerms(terms, patterns) }
}
