export const common = {
  typeName: (name: string) => `Type ${name} to confirm`,
  product: 'Gatehouse',
  tryAgain: 'Try again',
  loading: 'Loading',
  loadMore: 'Load more',
  failed: 'Unknown error',
  missing: 'Not found',
  missingText: 'It does not exist, was deleted, or belongs to another organization.',
  unreachable: 'The server cannot be reached. Nothing was changed.',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  none: '–',
  cancel: 'Cancel',
  save: 'Save',
  leaving: {
    title: 'Leave without saving?',
    text: 'Your changes are not saved.',
    leave: 'Leave and lose changes',
    stay: 'Stay',
  },
  exportAs: { label: 'Export', csv: 'CSV, for spreadsheets', ndjson: 'NDJSON, one object a line' },
  managed: (owner: string) =>
    `Managed from files (${owner}): change it there. The next apply overwrites changes made here.`,
  missingPermission: {
    title: (permission: string) => `You need ${permission} to see this.`,
    or: ' or ',
    owners: (names: string) => `Owners: ${names}`,
  },
  asRequest: 'curl and command line',
} as const

export const decisions = {
  allow: 'Allow',
  redact: 'Redact',
  rewrite: 'Rewrite',
  summary: 'Summary',
  escalate: 'Escalate',
  refuse: 'Deny',
  not_evaluated: 'Not evaluated',
  monitoring: 'Monitoring',
  error: 'Error',
} as const

export const traffic = {
  allRequests: 'All requests',
  denied: 'Denied',
  changed: 'Changed',
  escalated: 'Escalated',
  errors: 'Errors',
  monitored: 'Would deny',
} as const
