package azure

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// knownSeries are what follows the number of processors in the names of sizes that AKS is known to run, by the letters before it; "-" is
// nothing (Karpenter for Azure: known_skus.yaml, of 2026-08).
var knownSeries = map[string]string{
	"A": "_v2 m_v2",
	"B": "als_v2 as_v2 ats_v2 ls ls_v2 ms pls_v2 ps_v2 pts_v2 s s_v2 ts_v2",
	"D": "- _v2 _v2_Promo _v3 _v4 _v5 a_v4 ads_v5 ads_v6 ads_v7 alds_v6 alds_v7 als_v6 als_v7 as_v4 as_v5 as_v6 " +
		"as_v7 d_v4 d_v5 ds_v4 ds_v5 ds_v6 ds_v7 lds_v5 lds_v6 lds_v7 ls_v5 ls_v6 ls_v7 nds_v6 nlds_v6 nls_v6 ns_v6 " +
		"pds_v5 pds_v6 plds_v5 plds_v6 pls_v5 pls_v6 ps_v5 ps_v6 s_v3 s_v4 s_v5 s_v6 s_v7",
	"DC": "_v2 ads_cc_v5 ads_v5 ads_v6 as_cc_v5 as_v5 as_v6 ds_v3 eds_v5 eds_v6 es_v5 es_v6 s_v2 s_v3",
	"DS": "- _v2 _v2_Promo",
	"E": "_v3 _v4 _v5 a_v4 ads_v5 ads_v6 ads_v7 as_v4 as_v5 as_v6 as_v7 bds_v5 bs_v5 d_v4 d_v5 ds_v4 ds_v5 ds_v6 " +
		"ds_v7 i_v5 iads_v5 ias_v4 ias_v5 ibds_v5 ibs_v5 id_v5 ids_v4 ids_v5 ids_v6 is_v4 is_v5 is_v6 nds_v6 ns_v6 " +
		"pds_v5 pds_v6 ps_v5 ps_v6 s_v3 s_v4 s_v5 s_v6 s_v7",
	"EC": "ads_cc_v5 ads_v5 ads_v6 as_cc_v5 as_v5 as_v6 eds_v5 eds_v6 es_v5 es_v6 iads_v5 ias_v5 ieds_v5 ies_v5",
	"F":  "- ads_v7 alds_v7 als_v6 als_v7 amds_v7 ams_v6 ams_v7 as_v6 as_v7 s s_v2",
	"FX": "mds mds_v2 ms_v2",
	"G":  "-",
	"GS": "-",
	"HB": "rs_v2 rs_v3 rs_v4 rs_v5",
	"HC": "rs",
	"HX": "rs",
	"L":  "aos_v4 as_v3 as_v4 s s_v2 s_v3 s_v4",
	"M": "- bds_1_v3 bds_2_v3 bds_3_v3 bds_4_v3 bds_v3 bs_v3 dms_v2 ds_10_v3 ds_12_v3 ds_1_v3 ds_2_v3 ds_3_v3 " +
		"ds_4_v3 ds_6_v3 ds_8_v3 ds_9_v3 ds_v2 ds_v3 idms_v2 ids_16_v3 ids_v2 ims_v2 is_16_v3 is_v2 ls m ms ms_v2 s " +
		"s_10_v2 s_10_v3 s_12_v3 s_1_v3 s_2_v3 s_3_v3 s_4_v3 s_6_v3 s_8_v2 s_8_v3 s_9_v2 s_9_v3 s_v2 s_v3 ts",
	"NC": "adis_H100_v5 ads_A100_v4 ads_A10_v4 ads_H100_v5 as_T4_v3 ds_xl_RTXPRO6000BSE_v6 lds_xl_RTXPRO6000BSE_v6 " +
		"rs_v3 s_v3",
	"NCC": "ads_H100_v5",
	"ND":  "amsr_A100_v4 asr_v4 is_MI300X_v5 isr_GB300_v6 isr_H100_v5 isr_H200_v5 isr_MI300X_v5 isr_NDR_GB200_v6 rs_v2",
	"NG":  "adms_V620_v1 ads_V620_v1",
	"NP":  "s",
	"NV":  "adms_A10_v5 adms_V710_v5 ads_A10_v5 ads_V710_v5 as_v4 s_v2 s_v3",
	"PB":  "s",
}

// seriesForm takes the name of a size apart: its letters, and what follows the processors.
var seriesForm = regexp.MustCompile(`^Standard_([A-Z]+)[0-9]+(?:-[0-9]+)?(|[a-z_].*)$`)

// KnownSeries reports whether a size is of a series that AKS is known to run, for every input. A size of another one is the last choice
// if no prices say otherwise.
func (in *Input) KnownSeries(size string) bool {
	parts := seriesForm.FindStringSubmatch(size)
	if parts == nil {
		return false
	}
	return slices.Contains(strings.Fields(knownSeries[parts[1]]), cmp.Or(parts[2], "-"))
}
