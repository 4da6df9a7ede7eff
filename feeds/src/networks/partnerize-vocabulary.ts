// Partnerize's terms, and its field names in each format. Entries marked B or C are not from the network's documentation: see
// "Corrections" in docs/feeds.md.

export const PARTNERIZE = {
  statuses: { pending: 'PENDING', approved: 'CONFIRMED', rejected: 'DECLINED' },
  /** B. Status of a conversion whose items have different statuses. */
  mixed: 'mixed',
  /** Fields of a conversion in the JSON report and in the CSV export, which lacks the publisher reference and the items. */
  conversion: {
    JSON: {
      id: 'conversion_data.conversion_id',
      campaignId: 'conversion_data.campaign_id',
      status: 'conversion_data.conversion_value.conversion_status',
      country: 'conversion_data.country',
      clickedAt: 'conversion_data.click.set_time',
      soldAt: 'conversion_data.conversion_time',
      currency: 'conversion_data.currency',
      value: 'conversion_data.conversion_value.value',
      commission: 'conversion_data.conversion_value.publisher_commission',
      subId: 'conversion_data.publisher_reference',
      items: 'conversion_data.conversion_items',
      modifiedAt: 'conversion_data.last_modified',
    },
    CSV: {
      id: 'conversion_id',
      campaignId: 'campaign_id',
      status: 'conversion_status',
      country: 'country',
      clickedAt: 'click_date_time',
      soldAt: 'conversion_date_time',
      currency: 'currency',
      value: 'value',
      commission: 'publisher_commission',
      subId: undefined,
      items: undefined,
      modifiedAt: undefined,
    },
  },
  defaultRate: {
    percent: 'campaign.default_commission_rate',
    fixed: 'campaign.default_commission_value',
  },
  approvedCampaigns: ['a'],
  activeVouchers: ['y'],
  rateModels: { percentage_cpa: 'fraction', fixed_cpa: 'fixed', cpc: 'click' },
} as const;
