export const shell = {
  pages: 'Pages',
  groups: { govern: 'Govern', operate: 'Operate', access: 'Access' },
  menu: 'Menu',
  search: 'Search or paste an id',
  results: 'Results',
  noResults:
    'No page or id matches. Ids of requests begin with req_, of policies with pol_, of export sinks with sink_.',
  openRequest: (id: string) => `Open request ${id}`,
  openPolicy: (id: string) => `Open policy ${id}`,
  openSink: (id: string) => `Open export sink ${id}`,
  goTo: 'Page',
  theme: { label: 'Theme', system: 'Like the system', light: 'Light', dark: 'Dark' },
  density: { label: 'Rows', compact: 'Compact', normal: 'Normal', comfortable: 'Comfortable' },
  signOut: 'Sign out',
  signedInAs: 'Signed in as',
  skip: 'Skip to the page',
  live: 'Live',
  reference: 'API reference',
} as const

export const pages = {
  overview: 'Overview',
  requests: 'Requests',
  policies: 'Policies',
  gateway: 'Gateway',
  limits: 'Limits and credits',
  exports: 'Exports',
  audit: 'Audit',
  projects: 'Projects and keys',
} as const

export const range = {
  label: 'Time range',
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  all: 'All time',
  custom: 'Chosen range',
} as const
