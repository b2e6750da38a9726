/** The classifier as requests use it: through the whole scan, without a cache. */
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import type { ClassifierModel } from '../../src/adapters/classifiers/embedded/model.ts'
import type { Classification, Classifier, TextDirection } from '../../src/domain/moderation/classifier.ts'
import { createScanText } from '../../src/domain/moderation/scan.ts'

export type Judge = (text: string, direction: TextDirection) => Promise<Classification>

/** The linear stage alone. */
export const createJudge = (model: ClassifierModel): Judge => judgeBy(createEmbeddedClassifier(model))

function judgeBy(classifier: Classifier): Judge {
  const scan = createScanText({ classifier, cacheEntries: 0, pause: () => Promise.resolve() })
  return async (text, direction) => (await scan({ text, direction })).classification
}
