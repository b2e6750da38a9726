/** How a policy goes from monitoring to enforcing, and for which share of users. */
export const rollout = {
  tab: 'Rollout',
  failed: 'Could not load the decisions',
  stage: 'Stage',
  notPublished:
    'Nothing is in force yet. Publish the draft in monitoring first: it records matches and denies nothing.',
  paused: 'The policy is paused. It has no effect until it is resumed.',
  noRequests: 'This version has seen no requests in the last 7 days.',
  wouldDeny: (matches: string, requests: string, share: string) =>
    `In the last 7 days it would have denied ${matches} of ${requests} requests (${share}).`,
  denied: (matches: string, requests: string, share: string) =>
    `In the last 7 days it denied ${matches} of ${requests} requests (${share}).`,
  seeRequests: 'See the requests that matched',
  go: { enforcing: 'Enforce', monitoring: 'Back to monitoring' },
  title: {
    enforcing: (name: string) => `Enforce ${name}`,
    monitoring: (name: string) => `Only monitor ${name}`,
  },
  submit: {
    enforcing: (version: number) => `Enforce as v${version}`,
    monitoring: (version: number) => `Monitor as v${version}`,
  },
  text: (from: number, to: number) =>
    `The content of version ${from} becomes version ${to} with this mode, and applies to every request that begins after this.`,
  mayNot: 'You need the permissions policies:write and policies:publish.',
  hasDraft: 'The draft has other changes. Publish or discard them first, so that only the mode changes.',
  share: 'Share of users',
  shareText: (percent: number) =>
    percent === 100
      ? 'It is enforced for everybody.'
      : `It is enforced for ${percent} % of users, and only recorded for the others.`,
  wouldAdd: (percent: number, added: string, matches: string) =>
    `With ${percent} % it would have denied ${added} more requests in the last 7 days, by ${matches} recorded matches.`,
  wouldEnd: (percent: number) =>
    `With ${percent} % it is no longer enforced for the other users. Their matches are still recorded.`,
  setShare: (percent: number) => (percent === 100 ? 'Enforce for everybody' : `Enforce for ${percent} %`),
  sides: 'Both sides',
  sidesNote: 'distinct callers, last hour',
  deniesMore: 'More callers are denied than callers of the other side match, by more than chance.',
  side: 'Side',
  sideNames: { enforced: 'Enforced', observed: 'Only recorded' },
  callers: 'Callers',
  matchedCallers: 'With a match',
  between: 'Share, at 95 %',
  armRequests: 'Requests',
  matches: 'Matches by hour',
  matchesNote: 'last 48 hours',
  byVersion: 'Matches by version',
  byVersionNote: 'denied, or recorded in monitoring',
  requests: 'Requests, 7 d',
  day: 'Matches, 24 h',
  week: 'Matches, 7 d',
} as const
