import { re2Patterns } from '../../src/adapters/patterns/re2.ts'
import { createPolicyPrefilters } from '../../src/domain/evaluation/scan/policy-prefilter.ts'
import { createHoldBackPolicies } from '../../src/domain/evaluation/stream/hold-back-policy.ts'

export const prefilterOf = createPolicyPrefilters(re2Patterns)
export const holdBackPolicyOf = createHoldBackPolicies(prefilterOf)
