// What commands know of policies besides the types of responses.
export { changes } from '../../domain/evaluation/backtest/counts.ts'
export { policyFields } from '../../domain/policy/content.ts'
export type { PolicyContentBody, PolicyField } from '../../domain/policy/content.ts'
