import { common, decisions, traffic } from './en/common.ts'
import { signIn } from './en/sign-in.ts'
import { shell, pages, range } from './en/shell.ts'
import { overview } from './en/overview.ts'
import { firstSteps } from './en/first-steps.ts'
import { policies, policy } from './en/policies.ts'
import { gateway } from './en/gateway.ts'
import { exports } from './en/exports.ts'
import { requests, request } from './en/requests.ts'
import { models } from './en/models.ts'
import { playground } from './en/playground.ts'
import { limits } from './en/limits.ts'
import { audit } from './en/audit.ts'
import { members } from './en/members.ts'
import { projects } from './en/projects.ts'

/** Every word of the console, one file for each page, so that a second language is a second folder. */
export const words = {
  common,
  signIn,
  shell,
  pages,
  range,
  decisions,
  traffic,
  overview,
  firstSteps,
  requests,
  request,
  playground,
  policies,
  policy,
  gateway,
  models,
  limits,
  audit,
  exports,
  projects,
  members,
} as const
