import { parentPort } from 'node:worker_threads'
import { createScanCache } from '../../domain/moderation/scan-cache.ts'
import type { ExpressionResult } from '../../domain/policy/expression.ts'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createCelCompiler, type CelExpression } from './cel.ts'

/** Facts are left out where they are those of the question before: they hold the whole text. */
export type ThreadQuestion = { readonly expression: string; readonly facts: RuleFacts | undefined }
/** `cpuMs` is what the thread has used since it began. The first answer has no result, and says that it is ready. */
export type ThreadAnswer = { readonly result: ExpressionResult | undefined; readonly cpuMs: number }

const mostCompiled = 256

const compile = createCelCompiler()
const compiled = createScanCache<CelExpression>(mostCompiled)
let lastFacts: RuleFacts | undefined

function find(expression: string): CelExpression {
  const known = compiled.get(expression)
  if (known !== undefined) return known
  const made = compile(expression)
  compiled.set(expression, made)
  return made
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const post = (answer: ThreadAnswer): void => parentPort?.postMessage(answer)

parentPort?.on('message', ({ expression, facts = lastFacts }: ThreadQuestion) => {
  lastFacts = facts
  const result = facts === undefined ? undefined : find(expression).evaluate(facts)
  post({ result, cpuMs: cpuMs() })
})
// Says that it is ready: what loading took is not counted as anybody's evaluation.
post({ result: undefined, cpuMs: cpuMs() })
