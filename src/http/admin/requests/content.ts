import type { Static } from 'typebox'
import { rowOf } from '../../../domain/audit/chain/chained-event.ts'
import { keptTexts } from '../../../domain/audit/event/content.ts'
import { restorableOf } from '../../../domain/audit/event/restorable.ts'
import type { LoggedEvent } from '../../../domain/audit/log.ts'
import {
  policyResultsIn,
  textsIn,
  versionKey,
  type EvaluatedRules,
} from '../../../domain/explanation/recorded-outcomes.ts'
import type { Evidence, FindEvidence } from '../../../domain/evaluation/evidence.ts'
import type { Simulate, TriedPolicy } from '../../../domain/evaluation/simulate.ts'
import { defaultConfiguration } from '../../../domain/gateway-config/configuration.ts'
import { isOptionalCategory } from '../../../domain/scan/classify/categories.ts'
import type { TextDirection } from '../../../domain/scan/classify/classifier.ts'
import { contentOf as ruleContentOf } from '../../../domain/policy/content.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { contextOf, requestOf, type DecodeBody } from '../../resources/scenario.ts'
import type { RequestDetailObject } from './schema.ts'

type Content = NonNullable<Static<typeof RequestDetailObject>['content']>
type MarkedText = Content['prompt']

export type ContentParts = {
  readonly simulate: Simulate
  readonly findEvidence: FindEvidence
  readonly decodeBody: DecodeBody
}

type Sources = ContentParts & { readonly rules: EvaluatedRules }

/** The kept texts of a request, with what the checks acted on; null if none are kept. */
export async function contentOf(event: LoggedEvent, sources: Sources): Promise<Content | null> {
  const kept = keptTexts(event.content)
  if (kept === undefined) return null
  const { withheld = '' } = kept
  const sent = kept.response ?? ''
  const rules = actingRulesOf(event, sources.rules)
  const marked = async (text: string, direction: TextDirection): Promise<MarkedText> => ({
    text,
    evidence: rules === undefined || text === '' ? [] : await evidenceIn(text, direction, { event, rules, sources }),
  })
  return {
    level: event.content?.full === undefined ? 'redacted' : 'full',
    prompt: await marked(kept.prompt ?? '', 'request'),
    ...restored(event.content),
    response: { ...(await marked(sent + withheld, 'response')), withheld_from: withheld === '' ? null : sent.length },
  }
}

function restored(content: LoggedEvent['content']): Pick<Content, 'messages' | 'parameters' | 'not_restored'> {
  const { messages, parameters, losses } = restorableOf(content)
  return { messages: [...messages], parameters: parameters ? { ...parameters } : null, not_restored: [...losses] }
}

type ActingRules = { readonly config: typeof defaultConfiguration; readonly tried: readonly TriedPolicy[] }

/** The rules that acted on the request; undefined if all checks allowed it. */
function actingRulesOf({ document }: LoggedEvent, { policies, gateway }: EvaluatedRules): ActingRules | undefined {
  const { decision } = document.unmapped.gatehouse
  if (decision === 'allow' || decision === 'not_evaluated') return undefined
  const tried = policyResultsIn(document).flatMap(({ policyId: id, version, result }): readonly TriedPolicy[] => {
    const policy = policies.get(versionKey(id, version))
    const isMatch = result['decision'] !== 'allow' && result['decision'] !== 'not_evaluated'
    if (!isMatch || policy?.published === undefined) return []
    const { published } = policy
    return [{ id, name: undefined, version: published.version, content: ruleContentOf(published) }]
  })
  return { config: gateway ?? defaultConfiguration, tried }
}

type Evaluated = { readonly event: LoggedEvent; readonly rules: ActingRules; readonly sources: Sources }

/** Evaluates the text again. The judge is not called, because reading must not cost anything. */
async function evidenceIn(
  text: string,
  direction: TextDirection,
  { event: { document }, rules, sources }: Evaluated,
): Promise<MarkedText['evidence']> {
  const { projectId, userId, model, actorId } = rowOf(document, '')
  const scenario = omitUndefined({
    text,
    direction,
    model: model ?? '',
    user: userId ?? undefined,
    project_id: projectId ?? undefined,
    flagged_categories: textsIn(document.unmapped.gatehouse['categories_requested']).filter(isOptionalCategory),
  })
  const simulation = await sources.simulate({
    organizationId: document.metadata.tenant_uid,
    config: rules.config,
    policies: { includesInForce: false, tried: rules.tried },
    usesJudge: false,
    scenario: {
      request: requestOf(scenario, sources.decodeBody),
      direction,
      categories: [],
      context: contextOf(scenario, { credentialId: actorId ?? '', projectId: undefined }),
    },
  })
  return (await sources.findEvidence(simulation)).flatMap(presentEvidence)
}

/** Only what is in the text. */
function presentEvidence({ check, policyId, kind, name, where, span }: Evidence): MarkedText['evidence'] {
  if (span === undefined || where?.kind !== 'part') return []
  return [{ check, policy_id: policyId ?? null, kind, name, ...span }]
}
