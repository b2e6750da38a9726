/**
 * What one evaluation may cost. A unit is about ten nanoseconds of a slow core, counted for the worst text that a step can
 * meet: the same rule and the same text always cost the same, however busy the machine is.
 */
export type CostBudget = {
  /** Throws `CostExceeded` where there is less left. */
  spend(units: number): void
}

/** Enough for a pattern of usual size over half a million characters; half a second at the very worst. */
export const evaluationUnits = 50_000_000
/** What is run on the thread that serves requests: some ten milliseconds at the very worst. What costs more goes elsewhere. */
export const requestThreadUnits = 1_000_000

/** Neither a rule nor its author may catch it: `||` and `exists` forgive mistakes, never this. */
export class CostExceeded extends Error {
  constructor() {
    super('The evaluation costs more than it may.')
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

/** A step of its own: a call, a look-up, an operator. */
export const stepUnits = 30
/** For a mistake that is forgiven: an error is dear to throw. */
export const errorCost = 3_000
/** For each item of a list that is read or copied. */
export const itemUnits = 20
/** For each character that is written anew, memory included. */
export const writtenUnits = 2

/** A native search may compare the whole needle at every place. */
export const searchUnits = (text: string, needle: string): number => text.length * (1 + needle.length / 16)

/** At every place each instruction of a pattern may be alive; the first thousand places may each make a new state. */
export const patternUnits = (text: string, size: number): number =>
  text.length * size * 2 + Math.min(text.length, 1_000) * 500

/** To compile a pattern that is made while the rule runs. */
export const compileUnits = (size: number): number => size * 1_000
