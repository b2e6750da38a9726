/** Cross-validation that leaves out families: what the detector knows of attacks that are written in another way than those it learnt. */
import { isNeighbour, type Example, type Examples } from './examples.ts'
import { fit } from './fit.ts'
import { highestLogit } from './windows.ts'

const folds = 8

export function* crossValidate({ train, conversations }: Examples): Generator<string> {
  const families = [...new Set(train.filter(isAuthored).map(({ family }) => family))]
  const foldOf = new Map(families.map((family, at) => [family, at % folds]))
  let caught = 0
  let attacks = 0
  let alarms = 0
  let neighbours = 0
  for (let fold = 0; fold < folds; fold++) {
    const isLeftOut = ({ family }: Example): boolean => foldOf.get(family) === fold
    const weights = fit(train.filter((example) => !isLeftOut(example)))
    const tested = train
      .filter(isLeftOut)
      .map((example) => ({ ...example, logit: highestLogit(example.windows, weights) }))
    const ofAttacks = tested.filter(({ isInjection }) => isInjection)
    const ofNeighbours = tested.filter(({ isInjection }) => !isInjection)
    const found = ofAttacks.filter(({ logit }) => logit >= 0).length
    const inConversations = conversations.filter((windows) => highestLogit(windows, weights) >= 0).length
    caught += found
    attacks += ofAttacks.length
    alarms += ofNeighbours.filter(({ logit }) => logit >= 0).length
    neighbours += ofNeighbours.length
    yield `fold ${fold}: ${share(found, ofAttacks.length)} of left-out attacks, ${share(inConversations, conversations.length)} of conversations`
  }
  yield `left-out families: ${share(caught, attacks)} of ${attacks} attacks found, ${share(alarms, neighbours)} of ${neighbours} harmless neighbours flagged`
}

const isAuthored = (example: Example): boolean => example.isInjection || isNeighbour(example)

const share = (part: number, all: number): string => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`
