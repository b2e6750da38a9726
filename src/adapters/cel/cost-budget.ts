/**
 * The cost budget of one evaluation. A unit is about ten nanoseconds on a slow core in the worst case. Costs are deterministic:
 * the same rule and text always cost the same, however busy the machine is.
 */
export type CostBudget = {
  /** Throws `CostExceeded` if less is left. */
  spend(units: number): void
}

/** Enough for a typical pattern over half a million characters; half a second in the worst case. */
export const evaluationUnits = 50_000_000
/** The budget on the request thread: about ten milliseconds in the worst case. More expensive evaluations go to the worker thread. */
export const requestThreadUnits = 1_000_000

/** Never swallowed: `||` and `exists` ignore evaluation errors, but not this one. */
export class CostExceeded extends Error {
  constructor() {
    super('The evaluation exceeds its cost budget.')
    this.name = 'CostExceeded'
  }
}

export function createCostBudget(units: number): CostBudget {
  let left = units
  return {
    spend(spent) {
      left -= spent
      if (left < 0) throw new CostExceeded()
    },
  }
}

/** One step: a call, a lookup or an operator. */
export const stepUnits = 30
/** Cost of an evaluation error that `||` or `exists` swallows; throwing is expensive. */
export const errorCost = 3_000
/** Per list item that is read or copied. */
export const itemUnits = 20
/** Per character of a new string, including its memory. */
export const copyUnits = 2

/** A native search may compare the whole search string at every position. */
export const searchUnits = (text: string, needle: string): number => text.length * (1 + needle.length / 16)

/** At every position each instruction may be active, and each of the first positions may create a new state. */
export const patternUnits = (text: string, size: number): number =>
  text.length * size * instructionUnits + Math.min(text.length, maxNewStates) * newStateUnits

/** Per instruction of a pattern and character of the text. */
export const instructionUnits = 2
export const newStateUnits = 500
export const maxNewStates = 1_000

/** Compiling a pattern that is built at evaluation. */
export const compileUnits = (size: number): number => size * 1_000
