import { createCelCompiler } from '../../src/adapters/cel/cel.ts'
import type { ActivePolicy } from '../../src/domain/evaluation/rulebook.ts'
import { initialContent } from '../../src/domain/policy/content.ts'
import { createRuleCompiler } from '../../src/domain/policy/rule-compiler.ts'

const compile = createRuleCompiler({ compileExpression: createCelCompiler(), judge: undefined })

/** An enforcing policy of the organization with this rule, in both directions. `at` tells policies of a list apart. */
export const policyOf = (rule: string, at = 0): ActivePolicy => ({
  ...initialContent,
  id: `pol_${at}`,
  versionId: `polv_${at}`,
  version: 1,
  mode: 'enforcing',
  direction: 'both',
  scope: 'organization',
  rule: compile({ rule, versionId: `polv_${at}`, organizationId: 'org_1', judgeWindow: 'block' }),
})
