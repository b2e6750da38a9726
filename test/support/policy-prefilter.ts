import { re2Patterns } from '../../src/adapters/expressions/re2.ts'
import { createPolicyPrefilters } from '../../src/domain/evaluation/scan/policy-prefilter.ts'

export const prefilterOf = createPolicyPrefilters(re2Patterns)
