import { short, shortList, shortTexts } from '../document/bounds.ts'
import type { Unmapped } from '../document/document.ts'
import type { EventFacts } from '../facts/facts.ts'
import type { PolicyResult } from '../facts/verdict.ts'

/** What OCSF has no place for, in our own words for `unmapped.gatehouse`: in the order of the alphabet. */
export function wordsOf({ actor, verdict, model }: EventFacts, contentDigest?: string): Unmapped['gatehouse'] {
  return {
    actor_type: short(actor?.kind),
    categories_requested: verdict?.categoriesRequested && shortTexts(verdict.categoriesRequested),
    categories_triggered: verdict?.categoriesTriggered && shortTexts(verdict.categoriesTriggered),
    content_digest: contentDigest,
    cost_usd: model?.costUsd,
    coverage: verdict?.coverage,
    credits_used: model?.creditsUsed,
    data_classification: short(verdict?.dataClassification),
    decision: verdict?.decision,
    direction: verdict?.direction,
    is_enforced: verdict?.isEnforced,
    match_score_bp: verdict?.matchScoreBasisPoints,
    reason_code: short(verdict?.reasonCode),
    reported_tokens: model?.reportedTokens,
    results: verdict?.results && shortList(verdict.results, resultWords),
    rollout_mode: short(verdict?.rolloutMode),
    stream: model?.isStream,
    usage_source: model?.usageSource,
  }
}

const resultWords = ({ policyId, version, decision, scoreBasisPoints }: PolicyResult): Unmapped['gatehouse'] => ({
  decision,
  policy_id: short(policyId),
  score_bp: scoreBasisPoints,
  version,
})
