import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { textDigest } from '../exceptions/exception.ts'
import type { ScannedTexts } from './scan/collect-findings.ts'
import { combine, type Decision, type Verdict } from './verdict/combine.ts'
import { excepted } from './verdict/decisions.ts'
import type { ActivePolicy } from './rulebook.ts'

/** Decides on other texts with a policy of the plan. `at`: its position in the list of the direction. */
export type DecideOn = (texts: ScannedTexts, policy: ActivePolicy, at: number) => MaybePromise<Decision>

/**
 * The verdict after exceptions for texts: a policy that denies nothing but such texts is not enforced. Digests are computed only if a
 * policy with such an exception denies.
 */
export function withExceptedTexts(
  verdict: Verdict,
  texts: ScannedTexts,
  { policies, decideOn }: { readonly policies: readonly ActivePolicy[]; readonly decideOn: DecideOn },
): MaybePromise<Verdict> {
  const first = verdict.decisions.length - policies.length
  const denying = policies.flatMap((policy, at) => {
    const exceptions = textExceptionsOf(policy)
    const decision = verdict.decisions[first + at]
    if (exceptions === undefined || decision === undefined || !isDenying(decision)) return []
    return [{ policy, at, exceptions, decision }]
  })
  if (denying.length === 0) return verdict
  const digests = digestsOf(texts)
  const decisions = [...verdict.decisions]
  const decideAgain = ({ policy, at, exceptions, decision }: (typeof denying)[number]): MaybePromise<unknown> => {
    const covered = coveredTexts(texts, (text) => exceptions.get(digests.get(text) ?? ''))
    if (covered === undefined) return undefined
    const { id, others } = covered
    const onOthers = others === undefined ? undefined : decideOn(others, policy, at)
    return andThen(onOthers, (again) => {
      if (again === undefined || again.effect === 'allow') decisions[first + at] = excepted(decision, id)
    })
  }
  return andThen(sequentially(denying, decideAgain), () => combine(decisions))
}

const isDenying = ({ isEnforced, effect }: Decision): boolean => isEnforced && effect !== 'allow'

const none: readonly never[] = []

/** True if a policy of the list is not enforced for some texts. */
export const hasTextExceptions = (policies: readonly ActivePolicy[]): boolean => policies.some(textExceptionsOf)

export const textExceptionsOf = ({ exception }: ActivePolicy): ReadonlyMap<string, string> | undefined =>
  exception !== undefined && 'texts' in exception ? exception.texts : undefined

/**
 * The exception of the first text that has one, and the texts that have none. Undefined if no text has one. The parts of a joined text
 * are covered with it.
 */
function coveredTexts(texts: ScannedTexts, exceptionOf: (text: string) => string | undefined) {
  const { joinedFragments = none } = texts
  const covered = [...texts.texts, ...joinedFragments].filter((text) => exceptionOf(text) !== undefined)
  const [first] = covered
  const id = first === undefined ? undefined : exceptionOf(first)
  if (id === undefined) return undefined
  const isOther = (text: string): boolean => !covered.some((one) => one.includes(text))
  const others = { texts: texts.texts.filter(isOther), joinedFragments: joinedFragments.filter(isOther) }
  const isEmpty = others.texts.length + others.joinedFragments.length === 0
  return { id, others: isEmpty ? undefined : { ...texts, ...others } }
}

const digestsOf = ({ texts, joinedFragments = none }: ScannedTexts): ReadonlyMap<string, string> =>
  new Map([...texts, ...joinedFragments].map((text) => [text, textDigest(text)]))
