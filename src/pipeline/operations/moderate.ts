import { strongest, type Classification } from '../../domain/scan/classify/classifier.ts'
import type { ScanText } from '../../domain/scan/scan.ts'
import type { CountedOperation } from '../run-counted.ts'

/** The texts of each message. */
export type ModeratedMessages = readonly (readonly string[])[]

/** Classifies messages, one result for each. Policies do not apply. */
export type Moderate = CountedOperation<ModeratedMessages, readonly Classification[]>

export function createModerate(scanText: ScanText): Moderate {
  async function classify(texts: readonly string[]): Promise<Classification> {
    const classifications: Classification[] = []
    for (const text of texts) {
      const { classification } = await scanText({ text, direction: 'request', skipsPersonalData: true })
      classifications.push(classification)
    }
    return classifications.reduce(strongest)
  }
  return async ({ request: messages }) => {
    const results: Classification[] = []
    for (const texts of messages) results.push(await classify(texts))
    return results
  }
}
