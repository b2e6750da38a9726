/** The files with the metrics of the bundled model. */
export const metricsFile = new URL('../../src/adapters/classifiers/embedded/metrics.json', import.meta.url)
export const cardFile = new URL('../../docs/moderation-model-card.md', import.meta.url)
