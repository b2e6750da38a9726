import { parentPort } from 'node:worker_threads'
import { createScanCache } from '../../domain/scan/scan-cache.ts'
import type { ExpressionResult } from '../../domain/policy/expression.ts'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createCelCompiler, type CelExpression } from './cel.ts'

/** `facts` is undefined if it equals that of the previous message, because it contains the whole text. */
export type ThreadRequest = { readonly expression: string; readonly facts: RuleFacts | undefined }
/** `cpuMs` is the CPU time of the thread since its start. The first message has no result and reports that the thread is ready. */
export type ThreadReply = { readonly result: ExpressionResult | undefined; readonly cpuMs: number }

const maxCompiled = 256

const compile = createCelCompiler()
const compiled = createScanCache<CelExpression>(maxCompiled)
let lastFacts: RuleFacts | undefined

function find(expression: string): CelExpression {
  const known = compiled.get(expression)
  if (known !== undefined) return known
  const created = compile(expression)
  compiled.set(expression, created)
  return created
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const post = (answer: ThreadReply): void => parentPort?.postMessage(answer)

parentPort?.on('message', ({ expression, facts = lastFacts }: ThreadRequest) => {
  lastFacts = facts
  const result = facts === undefined ? undefined : find(expression).evaluate(facts)
  post({ result, cpuMs: cpuMs() })
})
// Reports readiness, so that loading time does not count as evaluation time.
post({ result: undefined, cpuMs: cpuMs() })
