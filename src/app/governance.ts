import { setImmediate } from 'node:timers/promises'
import { createEmbeddedClassifier } from '../adapters/classifiers/embedded/classifier.ts'
import { createCelCompiler } from '../adapters/expressions/cel.ts'
import { re2Patterns } from '../adapters/patterns/re2.ts'
import { quotaStore } from '../adapters/stores/sql/gateway/quotas.ts'
import { createExamine } from '../domain/governance/examine.ts'
import { createRulebooks } from '../domain/governance/rulebooks.ts'
import { createQuotas } from '../domain/gateway/quotas.ts'
import { createScreen } from '../domain/moderation/screen.ts'
import { createRuleCompiler } from '../domain/policy/rule-compiler.ts'
import { createGovern } from '../pipeline/govern.ts'
import type { Administration } from './administration.ts'
import type { Ground } from './ground.ts'
import { openWatch } from './watch.ts'

/** Blocks of text whose verdicts are remembered: some hundred long chats. */
const remembered = 50_000

const crisisMessage =
  'This was not sent on. If you are thinking about harming yourself, you do not have to face it alone: in an emergency call ' +
  'your local emergency number, and find someone to talk to, free and in confidence, at https://findahelpline.com.'

/** All that looks at what is said: the classifier, the rules of each organization, and the road's own checks. */
export function openGovernance(ground: Ground, { reads, administer }: Pick<Administration, 'reads' | 'administer'>) {
  const { clock, ids, changes, database, warn } = ground
  const classifier = createEmbeddedClassifier()
  const pause = (): Promise<void> => setImmediate()
  const shared = { pause, canRephrase: false, failsOpen: false }
  const examine = createExamine({
    ...shared,
    screen: createScreen({ classifier, pause, memory: remembered }),
    memory: remembered,
  })
  const forgetful = createScreen({ classifier, pause, memory: 0 })
  const glance = createExamine({ ...shared, screen: forgetful, memory: 0 })
  const compileRule = createRuleCompiler({
    compileExpression: createCelCompiler(),
    patterns: re2Patterns,
    judge: undefined,
  })
  const rulebookOf = createRulebooks({
    gateway: reads.gateway,
    policies: reads.policies,
    changes,
    compileRule,
    patterns: re2Patterns,
  })
  const watch = openWatch(ground, { reads, administer })
  const govern = createGovern({
    rulebookOf,
    hasPolicy: async (organizationId, id) => (await reads.policies.find(organizationId, id)) !== undefined,
    examine,
    glance,
    rephrase: undefined,
    quotas: createQuotas({ store: quotaStore(database), clock, onSettleFailed: warn('a quota could not be settled') }),
    clock,
    ids,
    crisisMessage,
    restores: false,
    note: (organizationId, outcomes) => watch.note({ organizationId, outcomes }),
  })
  return { govern, examine, rulebookOf, replay: { screen: forgetful, compileRule } }
}
