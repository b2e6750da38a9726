/** Where the figures about the shipped model stand. */
export const metricsFile = new URL('../../src/adapters/classifiers/embedded/metrics.json', import.meta.url)
export const cardFile = new URL('../../docs/moderation-model-card.md', import.meta.url)
