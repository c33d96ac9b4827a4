/** The documented severities of notifications. */
export const SEVERITIES: readonly string[] = ['ALERT', 'ERROR', 'WARNING', 'INFO', 'ADMIN'];

/** The documented categories of notifications. */
export const CATEGORIES: readonly string[] = [
  ...['Snapshots & Sync', 'Restore & Recovery', 'Cyber Resilience', 'Encryption Keys', 'Volume Management'],
  ...['Cloud & Credentials', 'Remote Access & GFL', 'Hardware', 'Network', 'System Health & Performance'],
  ...['Cache Management', 'Software & Firmware Updates', 'Licensing', 'Directory Services', 'Appliance Lifecycle'],
  ...['Security & Access', 'File IQ & Auditing'],
];

/** The documented sub-categories of notifications. */
export const SUB_CATEGORIES: readonly string[] = [
  ...['Snapshot', 'Sync', 'Snapshot Retention', 'Success', 'Errors', 'User Actions', 'Disaster Recovery'],
  ...['Ransomware', 'Antivirus', 'Escrow', 'Generation', 'Account', 'Remote Access', 'Backup', 'Delete'],
  ...['Safe Delete', 'UniFSCK', 'Multiprotocol', 'Sharing', 'GFL', 'Lock Arbiter', 'GFA', 'RAID', 'Encryption'],
  ...['Exception', 'Firmware', 'UPS', 'Unreachable', 'Configuration', 'Health Monitor', 'NOC', 'Limits'],
  ...['Resources', 'Cache Disk', 'Metrics', 'Config Backup', 'Unsupported', 'OS Disk', 'Time', 'Resize'],
  ...['Eviction', 'Autocache', 'Pinning', 'Sideload', 'Power', 'New', 'Offline', 'NMC', 'SSO'],
  ...['SSL Certificates', 'EULA', 'Remote Support', 'File IQ', 'AMQP', 'Syslog'],
];
