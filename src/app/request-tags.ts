import { createTagValues } from '../domain/costs/tag-values.ts'
import { createReadTags, type ReadTags } from '../http/inference/reading/tags.ts'
import type { Infrastructure } from './infrastructure.ts'

/** Reads the tags of requests; undefined if none are configured. */
export const openReadTags = ({ config, clock }: Pick<Infrastructure, 'config' | 'clock'>): ReadTags | undefined =>
  createReadTags(config.budgets.tags, createTagValues(clock))
